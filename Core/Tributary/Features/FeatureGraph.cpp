// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/FeatureGraph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Shares.h"

namespace tributary {
namespace {

/// How much larger a feature may have become, or smaller, for its centroid to tell its motion.
constexpr double SteadySize = 0.75;
/// Steps for which motions of what has merged are kept.
constexpr std::int64_t OldestMotion = 8;

constexpr std::uint64_t SavedGraph = 0x3168706172476174ull;  // of what save() writes

/// Who has which features of a step.
struct Owners {
  Shares shares;
  int rank;

  std::int64_t first() const { return shares.first(rank); }
  bool exists(std::int64_t feature) const { return feature >= 0 && feature < shares.total; }
  int of(std::int64_t feature) const { return shares.ownerOf(feature); }
  /// Place in this rank's share. @throws Error if it is another's
  std::size_t here(std::int64_t feature) const {
    if (!exists(feature) || shares.ownerOf(feature) != rank)
      refuseMessage("feature " + std::to_string(feature) + " of another rank");
    return index(feature - first());
  }
};

Owners ownersOf(const Transport& transport, std::int64_t total) {
  return {{total, transport.size()}, transport.rank()};
}

/// Asks the owners of features about them. Collective.
/// @param answerOf  local: of a feature's place in this rank's share
/// @return an answer for each feature
template <class Answer, class AnswerOf>
std::vector<Answer> ask(Transport& transport, const Owners& owners,
                        const std::vector<std::int64_t>& features, AnswerOf&& answerOf) {
  return askOwners<Answer>(
      transport, features,
      [&](std::int64_t feature) {
        if (!owners.exists(feature))
          throw Error("there is no feature " + std::to_string(feature) + " in a step with " +
                      std::to_string(owners.shares.total));
        return owners.of(feature);
      },
      [&](std::int64_t feature, int) -> Answer { return answerOf(owners.here(feature)); });
}

}  // namespace

/// An overlap on its way to the owner of its later feature.
struct FeatureGraph::Contact {
  std::int64_t before;
  std::int64_t after;
  std::int64_t motion;  ///< Of the feature before, by which they overlap most.
  FixedSum volume;
  Row row;  ///< Of the feature before.
};

/// And there.
struct FeatureGraph::Candidate : Contact {
  double volumeAsDouble = 0;
  double fraction = 0;
  std::int64_t successors = 0;
  bool isLinked = false;
  bool isMainBefore = false;  ///< The largest of the feature before.

  explicit Candidate(const Contact& contact) : Contact(contact) {}
  bool isBefore(const Candidate& other) const {
    return std::tie(after, before) < std::tie(other.after, other.before);
  }
  /// Whether this one is the main one of the same feature after rather than the other.
  bool isLargerThan(const Candidate& other) const {
    return volume != other.volume ? volume > other.volume
                                  : row.feature.track < other.row.feature.track;
  }
};

/// What the owner of the later feature tells that of the earlier one about an overlap.
struct FeatureGraph::Proposal {
  std::int64_t before;
  std::int64_t after;
  FixedSum volume;
  std::int64_t isMain;    ///< 1 if it is the largest of the feature after.
  std::int64_t isEnough;  ///< 1 if it is large enough to be a link without being the largest.

  bool isBefore(const Proposal& other) const {
    return std::tie(before, after) < std::tie(other.before, other.after);
  }
};

/// And what that one answers if they are linked.
struct FeatureGraph::Linked {
  std::int64_t before;
  std::int64_t after;
  std::int64_t successors;
  std::int64_t isMain;  ///< 1 if it is the largest of the feature before.
};

FeatureGraph::FeatureGraph(Transport& transport, const TrackingOptions& options)
    : transport_(transport), options_(options) {
  collectively(transport, [&] {
    for (const double fraction : {options.minimumOverlap, options.minimumSecondaryOverlap})
      if (!(fraction >= 0 && fraction <= 1))
        throw Error("a least overlap of " + std::to_string(fraction) +
                    "; give a fraction from 0 to 1");
  });
}

std::vector<FeatureSample> FeatureGraph::moved(const std::vector<FeatureSample>& samples,
                                               double time) const {
  std::vector<FeatureSample> moved;
  if (options_.motion == FeatureMotion::None) return samples;
  struct Known {
    std::int64_t count;
    std::array<Motion, Motions> motions;
  };
  std::vector<std::int64_t> features;
  collectively(transport_, [&] {
    for (const FeatureSample& sample : samples) features.push_back(sample.feature);
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
  });
  const auto known =
      ask<Known>(transport_, ownersOf(transport_, total_), features, [&](std::size_t i) {
        return Known{rows_[i].count, rows_[i].motions};
      });
  collectively(transport_, [&] {
    const double seconds = time - time_;
    for (const FeatureSample& sample : samples) {
      const auto at = std::lower_bound(features.begin(), features.end(), sample.feature);
      const Known& one = known[static_cast<std::size_t>(at - features.begin())];
      if (one.count < 1 || index(one.count) > Motions) refuseMessage("a feature without a motion");
      for (std::int64_t m = 0; m < one.count; ++m) {
        FeatureSample& copy = moved.emplace_back(sample);
        copy.motion = m;
        for (std::size_t a = 0; a < 3; ++a)
          copy.place[a] += one.motions[index(m)].velocity[a] * seconds;
      }
    }
  });
  return moved;
}

std::vector<FeatureGraph::Candidate> FeatureGraph::findCandidates(
    const FeatureStep& step, const std::vector<FeatureOverlap>& overlaps,
    const FixedScale& scale) const {
  const Owners earlier = ownersOf(transport_, total_), later = ownersOf(transport_, step.total);
  ErrorCollector errors;
  Records<FeatureOverlap> parts =
      sendRecords<FeatureOverlap>(transport_, errors, [&](RecordOutbox<FeatureOverlap>& outbox) {
        for (const FeatureOverlap& overlap : overlaps)
          outbox.add(earlier.of(overlap.before), overlap);
      });
  const Records<Contact> contacts =
      sendRecords<Contact>(transport_, errors, [&](RecordOutbox<Contact>& outbox) {
        std::vector<FeatureOverlap>& sums = parts.all();
        addUp(sums);
        std::size_t pairs = 0;  // each by the motion of most volume
        for (const FeatureOverlap& sum : sums) {
          if (sum.motion < 0 || sum.motion >= rows_[earlier.here(sum.before)].count)
            refuseMessage("a motion that nothing has");
          if (!later.exists(sum.after))
            refuseMessage("an overlap with a feature that does not exist");
          FeatureOverlap* last = pairs > 0 ? &sums[pairs - 1] : nullptr;
          if (!last || last->before != sum.before || last->after != sum.after)
            sums[pairs++] = sum;
          else if (sum.volume > last->volume)
            *last = sum;
        }
        sums.resize(pairs);
        for (const FeatureOverlap& sum : sums) {
          if (sum.volume <= 0) continue;
          outbox.add(later.of(sum.after), {sum.before, sum.after, sum.motion, sum.volume,
                                           rows_[earlier.here(sum.before)]});
        }
      });
  std::vector<Candidate> candidates;
  errors.attempt([&] {
    for (const Contact& contact : contacts) candidates.emplace_back(contact);
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.isBefore(b); });
    for (Candidate& candidate : candidates) {
      const double size = step.features[later.here(candidate.after)].size;
      if (!earlier.exists(candidate.before) || candidate.row.count < 1 ||
          index(candidate.row.count) > Motions || candidate.motion < 0 ||
          candidate.motion >= candidate.row.count || candidate.volume <= 0)
        refuseMessage("an overlap that cannot be");
      const double other = candidate.row.feature.facts.size;
      candidate.volumeAsDouble = scale.value(candidate.volume);
      const double whole =
          options_.overlapOf == OverlapOf::Smaller ? std::min(size, other) : std::max(size, other);
      candidate.fraction = whole > 0 ? candidate.volumeAsDouble / whole : 0;
    }
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                    [&](const Candidate& candidate) {
                                      return candidate.fraction < options_.minimumOverlap;
                                    }),
                     candidates.end());
  });
  errors.agree(transport_);
  return candidates;
}

FeatureGraph::Row FeatureGraph::rowOf(const FeatureFacts& facts, Span<const Candidate> edges,
                                      std::size_t main, double seconds) const {
  Row row;
  row.feature.facts = facts;
  row.feature.firstStep = steps_;
  const auto motionOf = [](const Candidate& edge) -> const Motion& {
    return edge.row.motions[index(edge.motion)];
  };
  std::array<double, 3> mean{};
  double weight = 0;
  for (const Candidate& edge : edges) {
    for (std::size_t a = 0; a < 3; ++a) mean[a] += motionOf(edge).velocity[a] * edge.volumeAsDouble;
    weight += edge.volumeAsDouble;
  }
  Motion& own = row.motions[0];
  for (std::size_t a = 0; a < 3 && weight > 0; ++a) own.velocity[a] = mean[a] / weight;
  if (main < edges.size()) {
    const TrackedFeature& before = edges[main].row.feature;
    row.feature.track = before.track;
    row.feature.firstStep = before.firstStep;
    const double small = std::min(facts.size, before.facts.size);
    const double large = std::max(facts.size, before.facts.size);
    if ((edges.size() == 1 && edges[main].successors == 1) || small >= SteadySize * large)
      for (std::size_t a = 0; a < 3; ++a)
        own.velocity[a] = (facts.centroid[a] - before.facts.centroid[a]) / seconds;
  }
  row.feature.velocity = own.velocity;

  // Then those of what has merged, the largest first, and what these had kept.
  const auto keep = [&](const Motion& motion, std::int64_t age) {
    if (index(row.count) < Motions && age <= OldestMotion)
      row.motions[index(row.count++)] = {motion.velocity, age};
  };
  std::vector<const Candidate*> bySize;
  for (const Candidate& edge : edges) bySize.push_back(&edge);
  std::sort(bySize.begin(), bySize.end(),
            [](const Candidate* a, const Candidate* b) { return a->isLargerThan(*b); });
  for (const Candidate* edge : bySize)
    if (edges.size() > 1) keep(motionOf(*edge), 0);
  for (const Candidate* edge : bySize)
    for (std::int64_t m = 1; m < edge->row.count; ++m)
      if (m != edge->motion) keep(edge->row.motions[index(m)], edge->row.motions[index(m)].age + 1);
  return row;
}

TrackedStep FeatureGraph::advance(const FeatureStep& step, std::vector<FeatureOverlap> overlaps,
                                  const FixedScale& scale) {
  const Owners earlier = ownersOf(transport_, total_), later = ownersOf(transport_, step.total);
  collectively(transport_, [&] {
    if (!std::isfinite(step.time) || (steps_ > 0 && step.time <= time_))
      throw Error("a step at time " + std::to_string(step.time) + " after one at " +
                  std::to_string(time_) + "; give steps in the order of their times");
    if (step.total < 0 || later.shares.count(later.rank) != std::int64_t(step.features.size()))
      throw Error(std::to_string(step.features.size()) +
                  " features on a rank that has another "
                  "share of " +
                  std::to_string(step.total));
    for (const FeatureFacts& facts : step.features)
      if (!(facts.size >= 0) ||
          !std::isfinite(facts.size + facts.centroid[0] + facts.centroid[1] + facts.centroid[2]))
        throw Error("a feature whose size or centroid is not a number");
    for (const FeatureOverlap& overlap : overlaps)
      if (!earlier.exists(overlap.before) || !later.exists(overlap.after))
        throw Error("an overlap of feature " + std::to_string(overlap.before) + " of " +
                    std::to_string(total_) + " with " + std::to_string(overlap.after) + " of " +
                    std::to_string(step.total));
    addUp(overlaps);
  });
  const bool differ = allreduce(transport_, ReduceOp::Max, step.total) !=
                          allreduce(transport_, ReduceOp::Min, step.total) ||
                      allreduce(transport_, ReduceOp::Max, step.time) !=
                          allreduce(transport_, ReduceOp::Min, step.time);
  if (differ) throw Error("ranks have different steps; give the same total and time on all");

  std::vector<Candidate> candidates = findCandidates(step, overlaps, scale);
  const auto forEachFeature = [](auto& list, auto&& number, auto&& visit) {
    for (std::size_t begin = 0, end = 0; begin < list.size(); begin = end) {
      while (end < list.size() && number(list[end]) == number(list[begin])) ++end;
      visit(begin, end);
    }
  };
  const auto afterOf = [](const Candidate& candidate) { return candidate.after; };

  // The owners of the features after say which overlaps are large there, those of the features
  // before which are links.
  ErrorCollector errors;
  Records<Proposal> proposals =
      sendRecords<Proposal>(transport_, errors, [&](RecordOutbox<Proposal>& outbox) {
        forEachFeature(candidates, afterOf, [&](std::size_t begin, std::size_t end) {
          std::size_t main = begin;
          for (std::size_t i = begin + 1; i < end; ++i)
            if (candidates[i].isLargerThan(candidates[main])) main = i;
          for (std::size_t i = begin; i < end; ++i)
            outbox.add(earlier.of(candidates[i].before),
                       {candidates[i].before, candidates[i].after, candidates[i].volume, i == main,
                        candidates[i].fraction >= options_.minimumSecondaryOverlap});
        });
      });
  std::vector<std::int64_t> successors;
  const Records<Linked> answers =
      sendRecords<Linked>(transport_, errors, [&](RecordOutbox<Linked>& outbox) {
        successors.assign(rows_.size(), 0);
        std::vector<Proposal>& proposed = proposals.all();
        std::sort(proposed.begin(), proposed.end(),
                  [](const Proposal& a, const Proposal& b) { return a.isBefore(b); });
        const auto beforeOf = [](const Proposal& proposal) { return proposal.before; };
        forEachFeature(proposed, beforeOf, [&](std::size_t begin, std::size_t end) {
          std::size_t main = begin;
          for (std::size_t i = begin + 1; i < end; ++i)
            if (proposed[i].volume > proposed[main].volume) main = i;
          const auto isLinked = [&](std::size_t i) {
            const bool isMain = i == main;
            return options_.match == FeatureMatch::Best
                       ? isMain && proposed[i].isMain != 0
                       : isMain || proposed[i].isMain != 0 || proposed[i].isEnough != 0;
          };
          std::int64_t& count = successors[earlier.here(proposed[begin].before)];
          for (std::size_t i = begin; i < end; ++i) count += isLinked(i);
          for (std::size_t i = begin; i < end; ++i) {
            if (!later.exists(proposed[i].after))
              refuseMessage("an overlap with a feature that does not exist");
            if (isLinked(i))
              outbox.add(later.of(proposed[i].after),
                         {proposed[i].before, proposed[i].after, count, i == main});
          }
        });
      });
  errors.attempt([&] {
    for (const Linked& answer : answers) {
      const auto at = std::lower_bound(
          candidates.begin(), candidates.end(), answer, [](const Candidate& a, const Linked& b) {
            return std::tie(a.after, a.before) < std::tie(b.after, b.before);
          });
      if (at == candidates.end() || at->after != answer.after || at->before != answer.before)
        refuseMessage("an answer about features that do not overlap");
      at->isLinked = true;
      at->isMainBefore = answer.isMain != 0;
      at->successors = answer.successors;
    }
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                    [](const Candidate& candidate) { return !candidate.isLinked; }),
                     candidates.end());
  });
  errors.agree(transport_);

  TrackedStep tracked;
  std::vector<Row> rows;
  std::int64_t begun = 0;
  collectively(transport_, [&] {
    tracked.step = steps_;
    tracked.first = later.first();
    std::size_t end = 0;
    for (std::size_t i = 0; i < step.features.size(); ++i) {
      const std::int64_t number = tracked.first + static_cast<std::int64_t>(i);
      const std::size_t begin = end;
      while (end < candidates.size() && candidates[end].after == number) ++end;
      std::size_t main = begin;
      for (std::size_t c = begin + 1; c < end; ++c)
        if (candidates[c].isLargerThan(candidates[main])) main = c;
      if (main == end || !candidates[main].isMainBefore) main = end;
      const Span<const Candidate> edges(candidates.data() + begin, end - begin);
      rows.push_back(rowOf(step.features[i], edges, main - begin, step.time - time_));
      if (main == end) rows.back().feature.track = -1 - begun++;
    }
  });
  const std::int64_t first = tracks_ + exclusivePrefix(transport_, begun);
  const std::int64_t tracks = tracks_ + allreduce(transport_, ReduceOp::Sum, begun);
  collectively(transport_, [&] {
    std::size_t end = 0;
    std::vector<FeatureEvent> merges;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      TrackedFeature& feature = rows[i].feature;
      if (feature.track < 0) feature.track = first - 1 - feature.track;
      const std::int64_t number = tracked.first + static_cast<std::int64_t>(i);
      const std::size_t begin = end;
      while (end < candidates.size() && candidates[end].after == number) ++end;
      const auto parts = static_cast<std::int64_t>(end - begin);
      for (std::size_t c = begin; c < end; ++c) {
        const Candidate& edge = candidates[c];
        tracked.edges.push_back({edge.before, number, edge.row.feature.track, feature.track,
                                 edge.successors, parts, edge.volumeAsDouble, edge.fraction});
      }
      tracked.features.push_back(feature);
      if (parts == 0)
        tracked.events.push_back(
            {FeatureEventKind::Birth, number, feature.track, 0, feature.facts.centroid});
      if (parts > 1)
        merges.push_back(
            {FeatureEventKind::Merge, number, feature.track, parts, feature.facts.centroid});
    }
    for (const FeatureEventKind kind : {FeatureEventKind::Death, FeatureEventKind::Split}) {
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const TrackedFeature& feature = rows_[i].feature;
        if (kind == FeatureEventKind::Death ? successors[i] == 0 : successors[i] > 1)
          tracked.events.push_back({kind, earlier.first() + static_cast<std::int64_t>(i),
                                    feature.track, successors[i], feature.facts.centroid});
      }
    }
    tracked.events.insert(tracked.events.end(), merges.begin(), merges.end());
  });
  rows_ = std::move(rows);
  tracks_ = tracks;
  total_ = step.total;
  time_ = step.time;
  ++steps_;
  return tracked;
}

std::vector<std::int64_t> FeatureGraph::tracksOf(const std::vector<std::int64_t>& features) const {
  return ask<std::int64_t>(transport_, ownersOf(transport_, total_), features,
                           [&](std::size_t i) { return rows_[i].feature.track; });
}

Bytes FeatureGraph::save() const {
  return Writer()
      .value(SavedGraph)
      .value(steps_)
      .value(tracks_)
      .value(time_)
      .value(total_)
      .value(ownersOf(transport_, total_).first())
      .range(rows_)
      .take();
}

void FeatureGraph::load(const std::vector<Bytes>& parts) {
  struct Head {
    std::int64_t steps, tracks;
    double time;
    std::int64_t total;

    bool operator!=(const Head& other) const {
      return std::tie(steps, tracks, time, total) !=
             std::tie(other.steps, other.tracks, other.time, other.total);
    }
  };
  struct Numbered {
    std::int64_t feature;
    Row row;
  };
  std::vector<Head> heads;
  std::vector<Numbered> read;
  collectively(transport_, [&] {
    for (const Bytes& part : parts) {
      Reader reader(part);
      if (reader.value<std::uint64_t>() != SavedGraph)
        throw Error("this is no saved feature graph; give what FeatureGraph::save() gave");
      const auto steps = reader.value<std::int64_t>(), tracks = reader.value<std::int64_t>();
      const auto time = reader.value<double>();
      heads.push_back({steps, tracks, time, reader.value<std::int64_t>()});
      auto feature = reader.value<std::int64_t>();
      for (const Row& row : reader.range<Row>()) read.push_back({feature++, row});
      if (!reader.atEnd()) throw Error("a saved feature graph goes on after its end");
    }
  });
  heads = allgatherv(transport_, heads);
  collectively(transport_, [&] {
    if (heads.empty()) throw Error("there is no saved feature graph; give what was saved");
    const Head& head = heads.front();
    for (const Head& other : heads)
      if (other != head) throw Error("the parts of the saved feature graph are of several moments");
    if (head.steps < 0 || head.tracks < 0 || head.total < 0 || !std::isfinite(head.time))
      throw Error("the saved feature graph is damaged");
  });
  const Head& head = heads.front();
  const Owners owners = ownersOf(transport_, head.total);
  std::vector<Row> rows;
  sendRecords<Numbered>(
      transport_,
      [&](RecordOutbox<Numbered>& outbox) {
        for (const Numbered& one : read) {
          const TrackedFeature& feature = one.row.feature;
          if (!owners.exists(one.feature) || one.row.count < 1 || index(one.row.count) > Motions ||
              feature.track < 0 || feature.track >= head.tracks)
            throw Error("the saved feature graph is damaged");
          outbox.add(owners.of(one.feature), one);
        }
      },
      [&](const Records<Numbered>& mine) {
        rows.resize(index(owners.shares.count(owners.rank)));
        std::vector<char> isThere(rows.size(), 0);
        for (const Numbered& one : mine) {
          const std::size_t at = owners.here(one.feature);
          if (isThere[at]++ != 0) throw Error("a part of the saved feature graph was given twice");
          rows[at] = one.row;
        }
        if (mine.size() != rows.size())
          throw Error("parts of the saved feature graph are missing; give those of all ranks");
      });
  steps_ = head.steps;
  tracks_ = head.tracks;
  time_ = head.time;
  total_ = head.total;
  rows_ = std::move(rows);
}

}  // namespace tributary
