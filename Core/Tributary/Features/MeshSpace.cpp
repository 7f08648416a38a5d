// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Features/SimplicialSpace.h"
#include "Tributary/Features/detail/SimplexSlope.h"

namespace tributary {

using namespace detail;

namespace {

/// Sums over the simplices around a point.
struct Around {
  std::array<FixedSum, 3> gradient{};
  FixedSum size = 0;
  std::int64_t notFinite = 0;

  void add(const Around& other) {
    for (std::size_t c = 0; c < 3; ++c) gradient[c] += other.gradient[c];
    size += other.size;
    notFinite += other.notFinite;
  }
};

class MeshSpace : public SimplicialSpace {
 public:
  MeshSpace(Transport& transport, const Assignment& assignment, int dimension,
            std::vector<SimplexBlock> blocks)
      : SimplicialSpace(assignment, dimension, {0, 1, 2}),
        first_(assignment.first(transport.rank())),
        blocks_(std::move(blocks)) {
    std::vector<std::int64_t> count;
    std::vector<std::vector<EntityKey>> keys;
    for (const SimplexBlock& block : blocks_) {
      count.push_back(static_cast<std::int64_t>(block.ids.size()));
      auto& of = keys.emplace_back();
      for (const std::int64_t id : block.ids) of.push_back(keyOfPoint(id));
      // Corners in the order of ids.
      auto& sorted = simplices_.emplace_back(block.simplices.begin(), block.simplices.end());
      const auto corners = static_cast<std::ptrdiff_t>(dimension + 1);
      for (auto at = sorted.begin(); at != sorted.end(); at += corners) {
        std::sort(at, at + corners, [&](SpacePoint a, SpacePoint b) {
          return block.ids[index(a)] < block.ids[index(b)];
        });
      }
    }
    setPoints(std::move(count));
    matches_ = matchEntities(transport, assignment, keys);
  }

  std::int64_t idOf(std::size_t block, SpacePoint point) const override {
    return blocks_[block].ids[index(point)];
  }
  std::array<double, 3> placeOf(std::size_t block, SpacePoint point) const override {
    const double* x = blocks_[block].coordinates.data() + 3 * point;
    return {x[0], x[1], x[2]};
  }

  /// Simplices.
  std::int64_t groups(std::size_t block) const override {
    return static_cast<std::int64_t>(simplices_[block].size()) / (dimension() + 1);
  }
  void forEachSimplex(std::size_t block, std::int64_t begin, std::int64_t end,
                      const std::uint8_t* flags, const Visit& visit) const override {
    const auto corners = static_cast<std::size_t>(dimension() + 1);
    for (std::int64_t s = begin; s < end; ++s) {
      const SpacePoint* points = simplices_[block].data() + index(s) * corners;
      unsigned same = 0xff;
      for (std::size_t v = 0; v < corners; ++v) same &= flags[points[v]];
      if (same) continue;
      std::array<SpacePoint, 4> simplex{};
      std::copy_n(points, corners, simplex.begin());
      visit(simplex);
    }
  }

 protected:
  void fetch(Transport& transport, std::vector<std::vector<double>>& values,
             int components) const override {
    struct Given {
      BlockId block;
      SpacePoint point;
      std::array<double, 3> value;
    };
    const auto c = index(components);
    ErrorCollector errors;
    send<Given>(
        transport, errors,
        [&](std::size_t b, const Match& match, auto&& give) {
          if (!owns(b, match)) return;
          Given given{match.block, match.remote, {}};
          std::copy_n(values[b].data() + index(match.local) * c, c, given.value.begin());
          give(given);
        },
        [&](std::size_t b, const Given& given) {
          std::copy_n(given.value.begin(), c, values[b].data() + index(given.point) * c);
        });
    errors.agree(transport);
  }

  std::vector<std::vector<double>> slopes(
      Transport& transport, const std::vector<Span<const double>>& scalars) const override {
    // Sums that are exact do not depend on the order.
    std::vector<double> largest(2, 0);
    forSlopes(scalars, [&](std::size_t, const SpacePoint*, const SimplexSlope& slope) {
      for (const double g : slope.gradient)
        if (std::isfinite(g * slope.size))
          largest[0] = std::max(largest[0], std::fabs(g * slope.size));
      if (std::isfinite(slope.size)) largest[1] = std::max(largest[1], slope.size);
    });
    largest = allreduce(transport, ReduceOp::Max, largest);
    const FixedScale ofGradient(largest[0]), ofSize(largest[1]);
    struct Part {
      BlockId block;
      SpacePoint point;
      Around around;
    };
    std::vector<std::vector<Around>> around;
    std::vector<std::vector<double>> result;
    ErrorCollector errors;
    errors.attempt([&] { around = sumsAround(scalars, ofGradient, ofSize); });
    send<Part>(
        transport, errors,
        [&](std::size_t b, const Match& match, auto&& give) {
          if (!owns(b, match)) give(Part{match.block, match.remote, around[b][index(match.local)]});
        },
        [&](std::size_t b, const Part& part) { around[b][index(part.point)].add(part.around); });
    if (!errors.anyKnown()) errors.attempt([&] { result = meansOf(around, ofGradient, ofSize); });
    errors.agree(transport);
    fetch(transport, result, dimension());
    return result;
  }

 private:
  /// The sums of the local simplices around each point.
  std::vector<std::vector<Around>> sumsAround(const std::vector<Span<const double>>& scalars,
                                              const FixedScale& ofGradient,
                                              const FixedScale& ofSize) const {
    std::vector<std::vector<Around>> around(blocks());
    for (std::size_t b = 0; b < blocks(); ++b) around[b].resize(index(points(b)));
    forSlopes(scalars, [&](std::size_t b, const SpacePoint* corners, const SimplexSlope& slope) {
      Around one;
      bool finite = std::isfinite(slope.size);
      for (const double g : slope.gradient) finite = finite && std::isfinite(g * slope.size);
      if (finite) {
        for (std::size_t c = 0; c < 3; ++c)
          one.gradient[c] = ofGradient.fixed(slope.gradient[c] * slope.size);
        one.size = ofSize.fixed(slope.size);
      } else {
        one.notFinite = 1;
      }
      for (int v = 0; v <= dimension(); ++v) around[b][index(corners[v])].add(one);
    });
    return around;
  }

  /// The mean gradient at each point; not a number next to a simplex whose gradient is not finite.
  std::vector<std::vector<double>> meansOf(const std::vector<std::vector<Around>>& around,
                                           const FixedScale& ofGradient,
                                           const FixedScale& ofSize) const {
    const auto d = static_cast<std::size_t>(dimension());
    std::vector<std::vector<double>> result(blocks());
    for (std::size_t b = 0; b < blocks(); ++b) {
      for (const Around& one : around[b]) {
        const double size = ofSize.value(one.size);
        for (std::size_t c = 0; c < d; ++c) {
          result[b].push_back(one.notFinite ? std::numeric_limits<double>::quiet_NaN()
                                            : ofGradient.value(one.gradient[c]) / size);
        }
      }
    }
    return result;
  }

  /// Calls `visit` for each simplex that is not flat.
  template <class Visit>
  void forSlopes(const std::vector<Span<const double>>& scalars, Visit&& visit) const {
    const auto d = static_cast<std::size_t>(dimension());
    for (std::size_t b = 0; b < blocks(); ++b) {
      for (std::size_t at = 0; at < simplices_[b].size(); at += d + 1) {
        const SpacePoint* corners = simplices_[b].data() + at;
        double edge[3][3] = {}, rise[3] = {};
        const auto from = placeOf(b, corners[0]);
        for (std::size_t v = 0; v < d; ++v) {
          const auto to = placeOf(b, corners[v + 1]);
          for (std::size_t c = 0; c < d; ++c) edge[v][c] = to[c] - from[c];
          rise[v] = scalars[b][index(corners[v + 1])] - scalars[b][index(corners[0])];
        }
        const SimplexSlope slope = slopeOf(dimension(), edge, rise);
        if (slope.size != 0) visit(b, corners, slope);
      }
    }
  }

  /// Whether the local block owns the point of a match.
  bool owns(std::size_t b, const Match& match) const {
    const BlockId block = first_ + static_cast<BlockId>(b);
    return block != match.block ? block < match.block : match.local < match.remote;
  }

  /// Collective. Sends records about matches to the ranks of the matched points. The caller agrees
  /// on errors.
  /// @param ask   ask(local block, match, give), local: calls give(record) for each record to send
  /// @param take  take(local block, record), local
  template <class Record, class Ask, class Take>
  void send(Transport& transport, ErrorCollector& errors, Ask&& ask, Take&& take) const {
    const Records<Record> received =
        sendRecords<Record>(transport, errors, [&](RecordOutbox<Record>& outbox) {
          for (std::size_t b = 0; b < blocks(); ++b) {
            for (const Match& match : matches_[b]) {
              ask(b, match, [&](const Record& record) {
                outbox.add(assignment().rankOf(match.block), record);
              });
            }
          }
        });
    errors.attempt([&] {
      for (const Record& record : received) {
        const auto b = static_cast<std::uint64_t>(record.block - first_);
        if (b >= blocks() || record.point < 0 || record.point >= points(b))
          refuseMessage("a value of a point that does not exist");
        take(b, record);
      }
    });
  }

  BlockId first_;
  std::vector<SimplexBlock> blocks_;
  std::vector<std::vector<SpacePoint>> simplices_;  // corners in the order of their ids
  std::vector<std::vector<Match>> matches_;
};

void checkBlock(const SimplexBlock& block, std::size_t corners) {
  if (block.coordinates.size() != 3 * block.ids.size())
    throw Error(
        "simplicial mesh: a block lacks three coordinates and one id for each point; give these "
        "for each point");
  if (block.simplices.size() % corners != 0)
    throw Error("simplicial mesh: a block lacks " + std::to_string(corners) +
                " points for each simplex; give these for each simplex");
  for (const std::int64_t id : block.ids)
    if (id < 0) throw Error("simplicial mesh: a point has a negative id; give ids of at least 0");
  for (std::size_t at = 0; at < block.simplices.size(); at += corners) {
    for (std::size_t v = 0; v < corners; ++v) {
      const std::int64_t point = block.simplices[at + v];
      if (point < 0 || index(point) >= block.ids.size())
        throw Error("simplicial mesh: a simplex has point " + std::to_string(point) +
                    ", but points are numbered from 0 to " +
                    std::to_string(static_cast<std::int64_t>(block.ids.size()) - 1) +
                    "; give one of these points");
      for (std::size_t u = 0; u < v; ++u)
        if (block.ids[index(block.simplices[at + u])] == block.ids[index(point)])
          throw Error("simplicial mesh: a simplex has point " +
                      std::to_string(block.ids[index(point)]) +
                      " twice; give different points, or remove it");
    }
  }
}

}  // namespace

std::unique_ptr<SimplicialSpace> makeMeshSpace(Transport& transport, const Assignment& assignment,
                                               int dimension, std::vector<SimplexBlock> blocks) {
  collectively(transport, [&] {
    if (dimension != 2 && dimension != 3)
      throw Error("simplicial mesh: the dimension is " + std::to_string(dimension) +
                  "; give 2 or 3");
    if (blocks.size() != index(assignment.count(transport.rank()))) {
      throw Error("simplicial mesh: " + std::to_string(blocks.size()) + " blocks given for " +
                  std::to_string(assignment.count(transport.rank())) +
                  " local blocks; pass one for each block");
    }
    for (const SimplexBlock& block : blocks) checkBlock(block, index(dimension + 1));
  });
  if (!sameOnAllRanks(transport, {dimension}))
    throw Error(
        "simplicial mesh: ranks gave different dimensions; give the same dimension on all ranks");
  return std::make_unique<MeshSpace>(transport, assignment, dimension, std::move(blocks));
}

}  // namespace tributary
