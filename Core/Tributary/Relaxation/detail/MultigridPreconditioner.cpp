// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/detail/MultigridPreconditioner.h"

#include <algorithm>
#include <utility>

#include "Tributary/Collective/Collectives.h"

namespace tributary::detail {
namespace {

/// A level of so many sites or fewer is known whole to each rank: a message to each would cost more
/// than the work.
constexpr std::int64_t WholeSites = 4096;
/// An axis is coarsened with the one whose sites are closest if its are not farther apart by this.
constexpr double SameSpacing = 1.9;

using Index = std::int64_t;

std::size_t size(Index i) {
  return static_cast<std::size_t>(i);
}

CellRange wholeOf(const std::array<Index, 3>& n) {
  return {{0, 0, 0}, n};
}

/// The coarse sites whose first part a box has. A box that is nothing lies below 0 and stays there.
CellRange coarseBox(CellRange box, const std::array<Index, 3>& factor) {
  if (box.lo[0] < 0) return box;
  for (std::size_t a = 0; a < 3; ++a)
    if (factor[a] == 2) {
      box.lo[a] = (box.lo[a] + 1) / 2;
      box.hi[a] = (box.hi[a] + 1) / 2;
    }
  return box;
}

/// Linear interpolation from coarse to fine sites along an axis: by fine site its block, the block
/// on its other side, and their weights. Beyond the border values go on as they are.
struct Interpolation {
  struct Weight {
    std::int32_t block = 0, other = 0;
    float weight = 1, otherWeight = 0;
  };

  Interpolation() = default;
  Interpolation(Index fine, Index coarse, Index factor) {
    for (Index i = 0; i < fine; ++i) {
      Weight w;
      w.block = w.other = static_cast<std::int32_t>(i / factor);
      const Index other = i / factor + (i % 2 == 1 ? 1 : -1);
      if (factor == 2 && other >= 0 && other < coarse) {
        w.other = static_cast<std::int32_t>(other);
        w.weight = 0.75f;
        w.otherWeight = 0.25f;
      }
      weights.push_back(w);
    }
  }

  std::vector<Weight> weights;
};

}  // namespace

struct MultigridPreconditioner::Level {
  std::array<Index, 3> n{};
  std::array<double, 3> spacing{};
  int coarsenings = 0;
  std::vector<CellRange> boxes;  ///< of all ranks; one if each has the whole level
  bool isWhole = false;
  SiteHalo halo;
  std::vector<SiteRun> runs;
  std::vector<std::size_t> rows;  ///< the first run of each row, and their end
  std::vector<float> correction, right;

  /// By place, but not of the finest level: what flows to the site before along each axis, to known
  /// values, and one over the sum of all; 0 where nothing is unknown.
  std::array<std::vector<float>, 3> before;
  std::vector<float> ground, inverse;
  std::vector<std::uint8_t> unknown;

  /// To the next level.
  std::array<Index, 3> factor{{1, 1, 1}};
  std::array<Interpolation, 3> interpolation;

  /// Of a whole level: this rank's share, where residuals are gathered first.
  std::vector<CellRange> partBoxes;
  SiteHalo part;
  std::vector<float> partRight;

  Level() = default;

  void findRows() {
    rows.clear();
    for (std::size_t r = 0; r < runs.size(); ++r)
      if (r == 0 || runs[r].j != runs[r - 1].j || runs[r].k != runs[r - 1].k) rows.push_back(r);
    rows.push_back(runs.size());
  }
};

namespace {

/// The first site of a run of a color.
Index firstOf(const SiteRun& run, int color) {
  return run.i + ((run.i + run.j + run.k) % 2 == color ? 0 : 1);
}

/// Rows of the finest level.
struct LatticeRows {
  const LatticeStencil& stencil;
  const float* packed;
  float* values;
  Index sy, sz;

  void begin(const SiteRun& run, int color) const {
    const auto row = stencil.row<float>(run.j, run.k);
    float* u = values + run.at - run.i;
    const float* b = packed + run.packed - run.i;
    std::fill(u + run.i, u + run.i + run.length, 0.0f);
    for (Index i = firstOf(run, color); i < run.i + run.length; i += 2) u[i] = b[i] / row.sum(i);
  }
  void smooth(const SiteRun& run, int color) const {
    const auto row = stencil.row<float>(run.j, run.k);
    float* u = values + run.at - run.i;
    const float* b = packed + run.packed - run.i;
    for (Index i = firstOf(run, color); i < run.i + run.length; i += 2)
      u[i] = (b[i] + row.before(i) * u[i - 1] + row.after(i) * u[i + 1] +
              row.across(i, u + i, sy, sz)) /
             row.sum(i);
  }
  /// @param out  by place along x
  void residual(const SiteRun& run, float* out) const {
    const auto row = stencil.row<float>(run.j, run.k);
    const float* u = values + run.at - run.i;
    const float* b = packed + run.packed - run.i;
    for (Index i = run.i; i < run.i + run.length; ++i)
      out[i] = b[i] + row.before(i) * u[i - 1] + row.after(i) * u[i + 1] +
               row.across(i, u + i, sy, sz) - row.sum(i) * u[i];
  }
};

/// Rows of a level with stored weights.
struct StoredRows {
  const float *x, *y, *z, *inverse, *right;
  float* values;
  Index sy, sz;

  float flow(Index p) const {
    return x[p] * values[p - 1] + x[p + 1] * values[p + 1] + y[p] * values[p - sy] +
           y[p + sy] * values[p + sy] + z[p] * values[p - sz] + z[p + sz] * values[p + sz];
  }
  void begin(const SiteRun& run, int color) const {
    std::fill(values + run.at, values + run.at + run.length, 0.0f);
    for (Index p = run.at + firstOf(run, color) - run.i; p < run.at + run.length; p += 2)
      values[p] = right[p] * inverse[p];
  }
  void smooth(const SiteRun& run, int color) const {
    for (Index p = run.at + firstOf(run, color) - run.i; p < run.at + run.length; p += 2)
      values[p] = (right[p] + flow(p)) * inverse[p];
  }
  void residual(const SiteRun& run, float* out) const {
    for (Index p = run.at; p < run.at + run.length; ++p)
      out[run.i + p - run.at] = right[p] + flow(p) - values[p] / inverse[p];
  }
};

}  // namespace

MultigridPreconditioner::MultigridPreconditioner(
    Transport& transport, SitePost& post, const SiteLattice& sites, const LatticeStencil& stencil,
    const std::vector<CellRange>& boxes, const SiteHalo& halo, const std::vector<SiteRun>& runs,
    const std::vector<std::uint8_t>& unknown, ParallelFor parallelFor)
    : transport_(transport), post_(post), parallelFor_(std::move(parallelFor)), stencil_(stencil) {
  auto finest = std::make_unique<Level>();
  collectively(transport_, [&] {
    for (std::size_t a = 0; a < 3; ++a) {
      finest->n[a] = sites.along(a);
      finest->spacing[a] = stencil.spacing(a);
    }
    finest->boxes = boxes;
    finest->isWhole = boxes.size() == 1;
    finest->halo = halo;
    finest->runs = runs;
    finest->findRows();
    finest->unknown = unknown;
    finest->correction.assign(halo.room().size, 0.0f);
    finest->right.resize(runs.empty() ? 0 : size(runs.back().packed + runs.back().length));
    // What flows to known values; the flows along axes are computed where they are needed.
    finest->ground.assign(halo.room().size, 0.0f);
    const Index sy = halo.room().step[1], sz = halo.room().step[2];
    for (const SiteRun& run : runs) {
      const auto row = stencil.row<double>(run.j, run.k);
      const std::uint8_t* is = finest->unknown.data() + run.at - run.i;
      for (Index i = run.i; i < run.i + run.length; ++i) {
        const auto known = [&](Index offset) { return is[i + offset] != 0 ? 0.0 : 1.0; };
        const double sum = row.before(i) * known(-1) + row.after(i) * known(1) +
                           row.widths[i] * (row.y0 * known(-sy) + row.y1 * known(sy) +
                                            row.z0 * known(-sz) + row.z1 * known(sz));
        finest->ground[size(run.at + i - run.i)] = static_cast<float>(sum);
      }
    }
  });
  halo.exchange(post_, finest->ground.data());
  levels_.push_back(std::move(finest));
  while (std::max({levels_.back()->n[0], levels_.back()->n[1], levels_.back()->n[2]}) > 1) {
    Level& fine = *levels_.back();
    double shortest = 0;
    for (std::size_t a = 0; a < 3; ++a)
      if (fine.n[a] > 1 && (shortest == 0 || fine.spacing[a] < shortest))
        shortest = fine.spacing[a];
    for (std::size_t a = 0; a < 3; ++a)
      fine.factor[a] = fine.n[a] > 1 && fine.spacing[a] <= SameSpacing * shortest ? 2 : 1;
    levels_.push_back(coarser(fine));
    // Only needed on the way here.
    fine.ground = {};
    fine.unknown = {};
    for (std::size_t a = 0; a < 3; ++a)
      fine.interpolation[a] = Interpolation(fine.n[a], levels_.back()->n[a], fine.factor[a]);
  }
}

MultigridPreconditioner::~MultigridPreconditioner() = default;

int MultigridPreconditioner::levels() const {
  return static_cast<int>(levels_.size());
}

const float* MultigridPreconditioner::correction() const {
  return levels_.front()->correction.data();
}

std::unique_ptr<MultigridPreconditioner::Level> MultigridPreconditioner::coarser(
    const Level& fine) {
  auto made = std::make_unique<Level>();
  Level& coarse = *made;
  const SiteRoom& from = fine.halo.room();
  const std::array<Index, 3>& factor = fine.factor;
  collectively(transport_, [&] {
    coarse.coarsenings = fine.coarsenings + 1;
    coarse.isWhole = fine.isWhole;
    for (std::size_t a = 0; a < 3; ++a) {
      coarse.n[a] = (fine.n[a] + factor[a] - 1) / factor[a];
      coarse.spacing[a] = fine.spacing[a] * static_cast<double>(factor[a]);
    }
    for (const CellRange& box : fine.boxes) coarse.boxes.push_back(coarseBox(box, factor));
    coarse.halo = SiteHalo(coarse.boxes, fine.isWhole ? 0 : transport_.rank(), wholeOf(coarse.n));
    const SiteRoom& room = coarse.halo.room();
    coarse.unknown.assign(room.size, 0);
    for (auto& axis : coarse.before) axis.assign(room.size, 0.0f);
    coarse.ground.assign(room.size, 0.0f);
    // A coarse site is farther from known values than its parts: twice as far in the end, a row of
    // known values beside it, as at the rim of a hole, being half a site from it.
    const auto width = static_cast<double>(Index(1) << std::min(fine.coarsenings, 40));
    const auto farther = static_cast<float>((width + 1) / (2 * width + 1));
    const bool isFinest = fine.before[0].empty();
    const CellRange& box = room.box;
    std::array<Index, 3> at;
    for (at[2] = box.lo[2]; at[2] < box.hi[2]; ++at[2])
      for (at[1] = box.lo[1]; at[1] < box.hi[1]; ++at[1])
        for (at[0] = box.lo[0]; at[0] < box.hi[0]; ++at[0]) {
          std::array<Index, 3> begin, end;
          for (std::size_t a = 0; a < 3; ++a) {
            begin[a] = at[a] * factor[a];
            end[a] = std::min(begin[a] + factor[a], fine.n[a]);
          }
          bool any = false, all = true;
          float ground = 0;
          std::array<float, 3> before{};
          std::array<Index, 3> i;
          for (i[2] = begin[2]; i[2] < end[2]; ++i[2])
            for (i[1] = begin[1]; i[1] < end[1]; ++i[1])
              for (i[0] = begin[0]; i[0] < end[0]; ++i[0]) {
                const Index place = from.at(i[0], i[1], i[2]);
                if (fine.unknown[size(place)] == 0) {
                  all = false;
                  continue;
                }
                any = true;
                ground += fine.ground[size(place)];
                for (std::size_t a = 0; a < 3; ++a) {
                  if (i[a] != begin[a] || fine.unknown[size(place - from.step[a])] == 0) continue;
                  if (!isFinest) {
                    before[a] += fine.before[a][size(place)];
                    continue;
                  }
                  const auto row = stencil_.row<float>(i[1], i[2]);
                  before[a] += a == 0   ? row.before(i[0])
                               : a == 1 ? row.widths[i[0]] * row.y0
                                        : row.widths[i[0]] * row.z0;
                }
              }
          if (!any) continue;
          const std::size_t place = size(room.at(at[0], at[1], at[2]));
          coarse.unknown[place] = 1;
          coarse.ground[place] = all ? farther * ground : ground;
          for (std::size_t a = 0; a < 3; ++a)
            coarse.before[a][place] = before[a] / static_cast<float>(factor[a]);
        }
  });
  if (!coarse.isWhole && coarse.n[0] * coarse.n[1] * coarse.n[2] <= WholeSites) makeWhole(coarse);
  coarse.halo.exchange(post_, coarse.unknown.data());
  coarse.halo.exchange(post_, coarse.ground.data());
  for (auto& axis : coarse.before) coarse.halo.exchange(post_, axis.data());
  collectively(transport_, [&] {
    const SiteRoom& room = coarse.halo.room();
    const CellRange& box = room.box;
    coarse.correction.assign(room.size, 0.0f);
    coarse.right.assign(room.size, 0.0f);
    coarse.inverse.assign(room.size, 0.0f);
    Index packed = 0;
    for (auto k = box.lo[2]; k < box.hi[2]; ++k)
      for (auto j = box.lo[1]; j < box.hi[1]; ++j) {
        bool goesOn = false;
        for (auto i = box.lo[0]; i < box.hi[0]; ++i) {
          const Index place = room.at(i, j, k);
          float sum = coarse.ground[size(place)];
          for (std::size_t a = 0; a < 3; ++a)
            sum += coarse.before[a][size(place)] + coarse.before[a][size(place + room.step[a])];
          const bool is = coarse.unknown[size(place)] != 0 && sum > 0;
          if (is) {
            coarse.inverse[size(place)] = 1 / sum;
            if (!goesOn) coarse.runs.push_back({i, j, k, place, packed, 0});
            ++coarse.runs.back().length;
            ++packed;
          }
          goesOn = is;
        }
      }
    coarse.findRows();
  });
  return made;
}

/// Collective. Gathers a level that is spread over the ranks.
void MultigridPreconditioner::makeWhole(Level& level) {
  Writer writer;
  Level whole;
  collectively(transport_, [&] {
    whole.n = level.n;
    whole.spacing = level.spacing;
    whole.coarsenings = level.coarsenings;
    whole.isWhole = true;
    whole.boxes = {wholeOf(level.n)};
    whole.halo = SiteHalo(whole.boxes, 0, wholeOf(level.n));
    whole.partBoxes = level.boxes;
    whole.part = level.halo;
    whole.partRight.assign(level.halo.room().size, 0.0f);
    whole.unknown.assign(whole.halo.room().size, 0);
    whole.ground.assign(whole.halo.room().size, 0.0f);
    for (auto& axis : whole.before) axis.assign(whole.halo.room().size, 0.0f);
    level.halo.visit(level.halo.room().box, [&](Index first, std::size_t count) {
      for (std::size_t i = size(first); i < size(first) + count; ++i)
        writer.value(level.unknown[i])
            .value(level.ground[i])
            .value(level.before[0][i])
            .value(level.before[1][i])
            .value(level.before[2][i]);
    });
  });
  const std::vector<Bytes> parts = allgatherBytes(transport_, writer.take());
  collectively(transport_, [&] {
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      Reader reader(parts[rank]);
      whole.halo.visit(whole.partBoxes[rank], [&](Index first, std::size_t count) {
        for (std::size_t i = size(first); i < size(first) + count; ++i) {
          whole.unknown[i] = reader.value<std::uint8_t>();
          whole.ground[i] = reader.value<float>();
          for (auto& axis : whole.before) axis[i] = reader.value<float>();
        }
      });
    }
  });
  level = std::move(whole);
}

/// Takes the residual of the fine level to the coarse one.
template <class Rows>
void MultigridPreconditioner::descend(Level& fine, const Rows& rows, Level& coarse) {
  const bool gathers = coarse.isWhole && !fine.isWhole;
  const SiteHalo& halo = gathers ? coarse.part : coarse.halo;
  std::vector<float>& right = gathers ? coarse.partRight : coarse.right;
  const SiteRoom& room = halo.room();
  std::fill(right.begin(), right.end(), 0.0f);
  std::vector<float> residual(size(fine.n[0]), 0.0f);
  std::vector<float> gathered(size(room.around.along(0)));
  const Index first = room.first[0];
  const auto& alongX = fine.interpolation[0].weights;
  for (std::size_t r = 0; r + 1 < fine.rows.size(); ++r) {
    std::fill(gathered.begin(), gathered.end(), 0.0f);
    for (std::size_t n = fine.rows[r]; n < fine.rows[r + 1]; ++n) {
      const SiteRun& run = fine.runs[n];
      rows.residual(run, residual.data());
      for (Index i = run.i; i < run.i + run.length; ++i) {
        const auto& w = alongX[size(i)];
        gathered[size(w.block - first)] += w.weight * residual[size(i)];
        gathered[size(w.other - first)] += w.otherWeight * residual[size(i)];
      }
    }
    const SiteRun& run = fine.runs[fine.rows[r]];
    const auto &y = fine.interpolation[1].weights[size(run.j)],
               &z = fine.interpolation[2].weights[size(run.k)];
    const auto add = [&](Index j, Index k, float weight) {
      if (weight == 0) return;
      float* out = right.data() + room.at(first, j, k);
      for (std::size_t i = 0; i < gathered.size(); ++i) out[i] += weight * gathered[i];
    };
    add(y.block, z.block, y.weight * z.weight);
    add(y.other, z.block, y.otherWeight * z.weight);
    add(y.block, z.other, y.weight * z.otherWeight);
    add(y.other, z.other, y.otherWeight * z.otherWeight);
  }
  halo.giveBack(post_, right.data());
  if (!gathers) return;
  Bytes mine;
  halo.visit(room.box, [&](Index at, std::size_t count) {
    append(mine, right.data() + at, count * sizeof(float));
  });
  // With a trouble of its own: one that there is already would keep this rank's part back.
  ErrorCollector errors;
  const std::vector<Bytes> parts = allgatherBytes(transport_, std::move(mine), errors);
  if (errors.any()) post_.errors.note(errors.text());
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    std::size_t at = 0;
    coarse.halo.visit(coarse.partBoxes[rank], [&](Index place, std::size_t count) {
      const std::size_t bytes = count * sizeof(float);
      if (at + bytes > parts[rank].size()) {
        post_.errors.note("malformed message: too few residuals");
        return;
      }
      std::memcpy(coarse.right.data() + place, parts[rank].data() + at, bytes);
      at += bytes;
    });
  }
}

void MultigridPreconditioner::cycle(std::size_t at) {
  Level& level = *levels_[at];
  const SiteRoom& room = level.halo.room();
  const auto forEachRun = [&](auto&& visit) {
    parallelFor_(static_cast<Index>(level.runs.size()), [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) visit(level.runs[size(r)]);
    });
  };
  const auto work = [&](const auto& rows) {
    forEachRun([&](const SiteRun& run) { rows.begin(run, 0); });
    if (at + 1 == levels_.size()) return;  // one site
    level.halo.exchange(post_, level.correction.data());
    forEachRun([&](const SiteRun& run) { rows.smooth(run, 1); });
    level.halo.exchange(post_, level.correction.data());

    Level& coarse = *levels_[at + 1];
    descend(level, rows, coarse);
    cycle(at + 1);

    const SiteRoom& from = coarse.halo.room();
    parallelFor_(static_cast<Index>(level.rows.size()) - 1, [&](Index begin, Index end) {
      std::vector<float> across(size(from.around.along(0)));
      for (Index r = begin; r < end; ++r) {
        const SiteRun& run = level.runs[level.rows[size(r)]];
        const auto &y = level.interpolation[1].weights[size(run.j)],
                   &z = level.interpolation[2].weights[size(run.k)];
        std::fill(across.begin(), across.end(), 0.0f);
        const auto add = [&](Index j, Index k, float weight) {
          if (weight == 0) return;
          const float* in = coarse.correction.data() + from.at(from.first[0], j, k);
          for (std::size_t i = 0; i < across.size(); ++i) across[i] += weight * in[i];
        };
        add(y.block, z.block, y.weight * z.weight);
        add(y.other, z.block, y.otherWeight * z.weight);
        add(y.block, z.other, y.weight * z.otherWeight);
        add(y.other, z.other, y.otherWeight * z.otherWeight);
        const auto& alongX = level.interpolation[0].weights;
        for (std::size_t n = level.rows[size(r)]; n < level.rows[size(r) + 1]; ++n) {
          const SiteRun& part = level.runs[n];
          float* u = level.correction.data() + part.at - part.i;
          for (Index i = part.i; i < part.i + part.length; ++i) {
            const auto& w = alongX[size(i)];
            u[i] += w.weight * across[size(w.block - from.first[0])] +
                    w.otherWeight * across[size(w.other - from.first[0])];
          }
        }
      }
    });
    level.halo.exchange(post_, level.correction.data());
    forEachRun([&](const SiteRun& run) { rows.smooth(run, 1); });
    level.halo.exchange(post_, level.correction.data());
    forEachRun([&](const SiteRun& run) { rows.smooth(run, 0); });
    level.halo.exchange(post_, level.correction.data());
  };
  if (at == 0)
    work(LatticeRows{stencil_, level.right.data(), level.correction.data(), room.step[1],
                     room.step[2]});
  else
    work(StoredRows{level.before[0].data(), level.before[1].data(), level.before[2].data(),
                    level.inverse.data(), level.right.data(), level.correction.data(), room.step[1],
                    room.step[2]});
}

void MultigridPreconditioner::correct(Span<const double> residual) {
  std::vector<float>& right = levels_.front()->right;
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(residual[i]);
  cycle(0);
}

}  // namespace tributary::detail
