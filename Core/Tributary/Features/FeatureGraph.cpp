// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/FeatureGraph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Base/OrderedDouble.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Shares.h"

namespace tributary {
namespace {

/// Minimum ratio of the smaller to the larger size of a feature in two steps for its velocity to be
/// taken from its centroids.
constexpr double SteadySize = 0.75;
/// Number of steps for which motions of merged features are kept.
constexpr std::int64_t OldestMotion = 8;

constexpr std::uint64_t SavedGraph = 0x3268706172476174ull;  // the first word of save()
constexpr const char* DamagedGraph = "the saved feature graph is damaged";

/// The distribution of the features of a step over ranks.
struct Owners {
  Shares shares;
  int rank;

  std::int64_t first() const { return shares.first(rank); }
  bool exists(std::int64_t feature) const { return feature >= 0 && feature < shares.total; }
  int of(std::int64_t feature) const { return shares.ownerOf(feature); }
  /// The place in this rank's share. Throws Error if another rank owns the feature.
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
/// @param answerOf  answerOf(std::size_t place), local: of a feature's place in this rank's share
/// @return one answer for each feature
template <class Answer, class AnswerOf>
std::vector<Answer> ask(Transport& transport, const Owners& owners,
                        const std::vector<std::int64_t>& features, AnswerOf&& answerOf) {
  return askOwners<Answer>(
      transport, features,
      [&](std::int64_t feature) {
        if (!owners.exists(feature))
          throw Error("feature " + std::to_string(feature) + " does not exist in a step with " +
                      std::to_string(owners.shares.total) + " features; give one of these");
        return owners.of(feature);
      },
      [&](std::int64_t feature, int) -> Answer { return answerOf(owners.here(feature)); });
}

/// Calls visit(begin, end) for each group of successive entries with equal numbers.
template <class List, class NumberOf, class Visit>
void forEachFeature(const List& list, NumberOf&& number, Visit&& visit) {
  for (std::size_t begin = 0, end = 0; begin < list.size(); begin = end) {
    while (end < list.size() && number(list[end]) == number(list[begin])) ++end;
    visit(begin, end);
  }
}

}  // namespace

/// An overlap as it is sent to the owner of its later feature.
struct FeatureGraph::Contact {
  std::int64_t before;
  std::int64_t after;
  std::int64_t motion;  ///< The motion of the feature before with the largest overlap.
  FixedSum volume;
  Row row;  ///< Of the feature before.
};

/// An overlap on the rank that owns its later feature.
struct FeatureGraph::Candidate : Contact {
  double volumeAsDouble = 0;
  double fraction = 0;
  std::int64_t successors = 0;
  bool isLinked = false;
  bool isMainBefore = false;  ///< The largest overlap of the feature before.

  explicit Candidate(const Contact& contact) : Contact(contact) {}
  const Motion& motionUsed() const { return row.motions[index(motion)]; }
  bool isBefore(const Candidate& other) const {
    return std::tie(after, before) < std::tie(other.after, other.before);
  }
  /// Whether this overlap precedes another one of the same feature after as the main one.
  bool isLargerThan(const Candidate& other) const {
    return volume != other.volume ? volume > other.volume
                                  : row.feature.track < other.row.feature.track;
  }
};

/// An overlap as the owner of the later feature proposes it to the owner of the earlier one.
struct FeatureGraph::Proposal {
  std::int64_t before;
  std::int64_t after;
  FixedSum volume;
  std::int64_t isMain;    ///< 1 if it is the largest overlap of the feature after.
  std::int64_t isEnough;  ///< 1 if it reaches TrackingOptions::minimumSecondaryOverlap.

  bool isBefore(const Proposal& other) const {
    return std::tie(before, after) < std::tie(other.before, other.after);
  }
};

/// The answer to a proposal that becomes a link.
struct FeatureGraph::Linked {
  std::int64_t before;
  std::int64_t after;
  std::int64_t successors;
  std::int64_t isMain;  ///< 1 if it is the largest overlap of the feature before.
};

FeatureGraph::FeatureGraph(Transport& transport, const TrackingOptions& options)
    : transport_(transport), options_(options) {
  collectively(transport, [&] {
    for (const double fraction : {options.minimumOverlap, options.minimumSecondaryOverlap})
      if (!(fraction >= 0 && fraction <= 1))
        throw Error("a minimum overlap of " + numberText(fraction) +
                    " is out of the range [0, 1]; set it to a fraction in this range");
    for (const double period : options.period)
      if (!(period >= 0) || !std::isfinite(period))
        throw Error("a period of " + numberText(period) +
                    " is not a length; set it to a positive number, or to 0");
  });
}

bool FeatureGraph::hasMotions(const Row& row) {
  return row.count >= 1 && index(row.count) <= Motions &&
         std::all_of(row.motions.begin(), row.motions.end(), [](const Motion& motion) {
           return motion.age >= 0 && motion.age <= OldestMotion;
         });
}

std::vector<FeatureSample> FeatureGraph::moved(const std::vector<FeatureSample>& samples,
                                               double time) const {
  std::vector<FeatureSample> moved;
  if (options_.motion == FeatureMotion::None) {
    collectively(transport_, [&] { moved = samples; });
    return moved;
  }
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

/// One step of advance(), stage by stage, in the order of the members. It does not change the
/// graph.
class FeatureGraph::Advance {
 public:
  Advance(const FeatureGraph& graph, const FeatureStep& step)
      : graph_(graph),
        transport_(graph.transport_),
        step_(step),
        earlier_(ownersOf(transport_, graph.total_)),
        later_(ownersOf(transport_, step.total)) {}

  /// Collective. Checks the arguments, and adds up this rank's overlaps.
  void checkAndAddUp(std::vector<FeatureOverlap>& overlaps) const;
  /// Collective. Sends overlaps to the owners of their later features.
  void findCandidates(const std::vector<FeatureOverlap>& overlaps, const FixedScale& scale);
  /// Collective. Removes the candidates that do not become links.
  void agreeOnLinks();
  /// Collective. Continues tracks along links, and numbers those that begin.
  void assignTracks();
  /// Collective. Lists this rank's features, edges and events.
  TrackedStep describe() const;

  /// This rank's features after assignTracks().
  std::vector<Row> takeRows() { return std::move(rows_); }
  /// The number of tracks on all ranks after assignTracks().
  std::int64_t tracks() const { return tracks_; }

 private:
  /// The range of candidates of a later feature.
  struct Range {
    std::size_t begin, end;
  };

  void checkStep() const;
  void sendSums(std::vector<FeatureOverlap>& sums, RecordOutbox<Contact>& outbox) const;
  void rate(Candidate& candidate, const FixedScale& scale) const;
  void propose(RecordOutbox<Proposal>& outbox) const;
  void answer(std::vector<Proposal>& proposals, RecordOutbox<Linked>& outbox);
  void keepLinks(const Records<Linked>& answers);

  /// Calls visit(place, range) for each of this rank's later features, in order.
  template <class Visit>
  void forEachLater(Visit&& visit) const {
    std::size_t end = 0;
    for (std::size_t i = 0; i < step_.features.size(); ++i) {
      const std::size_t begin = end;
      while (end < candidates_.size() && candidates_[end].after == numberOf(i)) ++end;
      visit(i, Range{begin, end});
    }
  }
  std::int64_t numberOf(std::size_t later) const {
    return later_.first() + static_cast<std::int64_t>(later);
  }
  /// The largest of the candidates in a range; its begin if it is empty.
  std::size_t mainOf(const Range& range) const {
    std::size_t main = range.begin;
    for (std::size_t i = range.begin + 1; i < range.end; ++i)
      if (candidates_[i].isLargerThan(candidates_[main])) main = i;
    return main;
  }

  Row rowOf(const FeatureFacts& facts, Span<const Candidate> edges, std::size_t main) const;
  static void keepMotions(Span<const Candidate> edges, Row& row);
  void addEndings(FeatureEventKind kind, std::vector<FeatureEvent>& events) const;

  const FeatureGraph& graph_;
  Transport& transport_;
  const FeatureStep& step_;
  const Owners earlier_, later_;
  std::vector<Candidate> candidates_;     // by (after, before)
  std::vector<std::int64_t> successors_;  // of each of this rank's earlier features
  std::vector<Row> rows_;
  std::int64_t tracks_ = 0;
};

void FeatureGraph::Advance::checkStep() const {
  if (!std::isfinite(step_.time) || (graph_.steps_ > 0 && step_.time <= graph_.time_))
    throw Error("a step at time " + std::to_string(step_.time) + " follows a step at time " +
                std::to_string(graph_.time_) + "; add steps in the order of their times");
  if (step_.total < 0 || later_.shares.count(later_.rank) != std::int64_t(step_.features.size()))
    throw Error(std::to_string(step_.features.size()) +
                " features are not the rank's share of a total of " + std::to_string(step_.total) +
                "; give each rank its share of the features");
  for (const FeatureFacts& facts : step_.features)
    if (!(facts.size >= 0) ||
        !std::isfinite(facts.size + facts.centroid[0] + facts.centroid[1] + facts.centroid[2]))
      throw Error(
          "the size or centroid of a feature is not a finite number; repair the coordinates of its "
          "cells");
}

void FeatureGraph::Advance::checkAndAddUp(std::vector<FeatureOverlap>& overlaps) const {
  collectively(transport_, [&] {
    checkStep();
    for (const FeatureOverlap& overlap : overlaps)
      if (!earlier_.exists(overlap.before) || !later_.exists(overlap.after))
        throw Error("an overlap between feature " + std::to_string(overlap.before) + " of " +
                    std::to_string(graph_.total_) + " and feature " +
                    std::to_string(overlap.after) + " of " + std::to_string(step_.total) +
                    " names a feature that does not exist; give features of these two steps");
    addUp(overlaps);
  });
  // Without the sign of 0.
  if (!sameOnAllRanks(transport_, {step_.total, orderedInteger(step_.time + 0.0)}))
    throw Error("ranks have different steps; give the same total and time on all ranks");
}

void FeatureGraph::Advance::findCandidates(const std::vector<FeatureOverlap>& overlaps,
                                           const FixedScale& scale) {
  ErrorCollector errors;
  Records<FeatureOverlap> parts =
      sendRecords<FeatureOverlap>(transport_, errors, [&](RecordOutbox<FeatureOverlap>& outbox) {
        for (const FeatureOverlap& overlap : overlaps)
          outbox.add(earlier_.of(overlap.before), overlap);
      });
  const Records<Contact> contacts = sendRecords<Contact>(
      transport_, errors, [&](RecordOutbox<Contact>& outbox) { sendSums(parts.all(), outbox); });
  errors.attempt([&] {
    for (const Contact& contact : contacts) candidates_.emplace_back(contact);
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.isBefore(b); });
    for (Candidate& candidate : candidates_) rate(candidate, scale);
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(),
                                     [&](const Candidate& candidate) {
                                       return candidate.fraction < graph_.options_.minimumOverlap;
                                     }),
                      candidates_.end());
  });
  errors.agree(transport_);
}

/// On the owners of the earlier features: each pair of features by the motion of most volume.
void FeatureGraph::Advance::sendSums(std::vector<FeatureOverlap>& sums,
                                     RecordOutbox<Contact>& outbox) const {
  addUp(sums);
  std::size_t pairs = 0;
  for (const FeatureOverlap& sum : sums) {
    if (sum.motion < 0 || sum.motion >= graph_.rows_[earlier_.here(sum.before)].count)
      refuseMessage("a motion that does not exist");
    if (!later_.exists(sum.after)) refuseMessage("an overlap with a feature that does not exist");
    FeatureOverlap* last = pairs > 0 ? &sums[pairs - 1] : nullptr;
    if (!last || last->before != sum.before || last->after != sum.after)
      sums[pairs++] = sum;
    else if (sum.volume > last->volume)
      *last = sum;
  }
  sums.resize(pairs);
  for (const FeatureOverlap& sum : sums) {
    if (sum.volume <= 0) continue;
    outbox.add(later_.of(sum.after), {sum.before, sum.after, sum.motion, sum.volume,
                                      graph_.rows_[earlier_.here(sum.before)]});
  }
}

/// Sets the fraction that a received overlap is of the sizes of its features.
void FeatureGraph::Advance::rate(Candidate& candidate, const FixedScale& scale) const {
  const double size = step_.features[later_.here(candidate.after)].size;
  const std::int64_t track = candidate.row.feature.track;
  if (!earlier_.exists(candidate.before) || !hasMotions(candidate.row) || candidate.motion < 0 ||
      candidate.motion >= candidate.row.count || candidate.volume <= 0 || track < 0 ||
      track >= graph_.tracks_)
    refuseMessage("an impossible overlap");
  const double other = candidate.row.feature.facts.size;
  candidate.volumeAsDouble = scale.value(candidate.volume);
  const double whole = graph_.options_.overlapOf == OverlapOf::Smaller ? std::min(size, other)
                                                                       : std::max(size, other);
  candidate.fraction = whole > 0 ? candidate.volumeAsDouble / whole : 0;
}

void FeatureGraph::Advance::agreeOnLinks() {
  // The owners of the later features know which overlaps are large there, the owners of the earlier
  // features decide which become links.
  ErrorCollector errors;
  Records<Proposal> proposals = sendRecords<Proposal>(
      transport_, errors, [&](RecordOutbox<Proposal>& outbox) { propose(outbox); });
  const Records<Linked> answers = sendRecords<Linked>(
      transport_, errors, [&](RecordOutbox<Linked>& outbox) { answer(proposals.all(), outbox); });
  errors.attempt([&] { keepLinks(answers); });
  errors.agree(transport_);
}

void FeatureGraph::Advance::propose(RecordOutbox<Proposal>& outbox) const {
  const auto& candidates = candidates_;
  const double enough = graph_.options_.minimumSecondaryOverlap;
  forEachFeature(
      candidates, [](const Candidate& candidate) { return candidate.after; },
      [&](std::size_t begin, std::size_t end) {
        const std::size_t main = mainOf({begin, end});
        for (std::size_t i = begin; i < end; ++i)
          outbox.add(earlier_.of(candidates[i].before),
                     {candidates[i].before, candidates[i].after, candidates[i].volume, i == main,
                      candidates[i].fraction >= enough});
      });
}

void FeatureGraph::Advance::answer(std::vector<Proposal>& proposals, RecordOutbox<Linked>& outbox) {
  successors_.assign(graph_.rows_.size(), 0);
  std::sort(proposals.begin(), proposals.end(),
            [](const Proposal& a, const Proposal& b) { return a.isBefore(b); });
  const auto beforeOf = [](const Proposal& proposal) { return proposal.before; };
  forEachFeature(proposals, beforeOf, [&](std::size_t begin, std::size_t end) {
    std::size_t main = begin;
    for (std::size_t i = begin + 1; i < end; ++i)
      if (proposals[i].volume > proposals[main].volume) main = i;
    const auto isLinked = [&](std::size_t i) {
      const bool isMain = i == main;
      return graph_.options_.match == FeatureMatch::Best
                 ? isMain && proposals[i].isMain != 0
                 : isMain || proposals[i].isMain != 0 || proposals[i].isEnough != 0;
    };
    std::int64_t& count = successors_[earlier_.here(proposals[begin].before)];
    for (std::size_t i = begin; i < end; ++i) count += isLinked(i);
    for (std::size_t i = begin; i < end; ++i) {
      if (!later_.exists(proposals[i].after))
        refuseMessage("an overlap with a feature that does not exist");
      if (isLinked(i))
        outbox.add(later_.of(proposals[i].after),
                   {proposals[i].before, proposals[i].after, count, i == main});
    }
  });
}

void FeatureGraph::Advance::keepLinks(const Records<Linked>& answers) {
  for (const Linked& answer : answers) {
    const auto at = std::lower_bound(
        candidates_.begin(), candidates_.end(), answer, [](const Candidate& a, const Linked& b) {
          return std::tie(a.after, a.before) < std::tie(b.after, b.before);
        });
    if (at == candidates_.end() || at->after != answer.after || at->before != answer.before)
      refuseMessage("an answer about features that do not overlap");
    at->isLinked = true;
    at->isMainBefore = answer.isMain != 0;
    at->successors = answer.successors;
  }
  candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(),
                                   [](const Candidate& candidate) { return !candidate.isLinked; }),
                    candidates_.end());
}

void FeatureGraph::Advance::assignTracks() {
  std::int64_t begun = 0;
  collectively(transport_, [&] {
    forEachLater([&](std::size_t i, const Range& range) {
      const std::size_t main = mainOf(range);
      const bool continues = range.begin < range.end && candidates_[main].isMainBefore;
      const Span<const Candidate> edges(candidates_.data() + range.begin, range.end - range.begin);
      rows_.push_back(
          rowOf(step_.features[i], edges, continues ? main - range.begin : edges.size()));
      if (!continues) rows_.back().feature.track = -1 - begun++;
    });
  });
  const std::int64_t first = graph_.tracks_ + exclusivePrefix(transport_, begun);
  tracks_ = graph_.tracks_ + allreduce(transport_, ReduceOp::Sum, begun);
  for (Row& row : rows_)
    if (row.feature.track < 0) row.feature.track = first - 1 - row.feature.track;
}

/// @param edges  the links of the feature
/// @param main   the link along which its track continues, or edges.size() if its track begins
FeatureGraph::Row FeatureGraph::Advance::rowOf(const FeatureFacts& facts,
                                               Span<const Candidate> edges,
                                               std::size_t main) const {
  Row row;
  row.feature.facts = facts;
  row.feature.firstStep = graph_.steps_;
  std::array<double, 3> mean{};
  double weight = 0;
  for (const Candidate& edge : edges) {
    for (std::size_t a = 0; a < 3; ++a)
      mean[a] += edge.motionUsed().velocity[a] * edge.volumeAsDouble;
    weight += edge.volumeAsDouble;
  }
  Motion& own = row.motions[0];
  for (std::size_t a = 0; a < 3 && weight > 0; ++a) own.velocity[a] = mean[a] / weight;
  if (main < edges.size()) {
    const TrackedFeature& before = edges[main].row.feature;
    row.feature.track = before.track;
    row.feature.firstStep = before.firstStep;
    const double seconds = step_.time - graph_.time_;
    const double small = std::min(facts.size, before.facts.size);
    const double large = std::max(facts.size, before.facts.size);
    if ((edges.size() == 1 && edges[main].successors == 1) || small >= SteadySize * large)
      for (std::size_t a = 0; a < 3; ++a) {
        if (((facts.wraps | before.facts.wraps) >> a & 1) != 0) continue;
        const double period = graph_.options_.period[a];
        double way = facts.centroid[a] - before.facts.centroid[a];
        if (period > 0) way -= period * std::round(way / period);
        own.velocity[a] = way / seconds;
      }
  }
  row.feature.velocity = own.velocity;
  keepMotions(edges, row);
  return row;
}

/// Adds the motions of merged features, the largest overlap first, then the motions that these had
/// kept.
void FeatureGraph::Advance::keepMotions(Span<const Candidate> edges, Row& row) {
  const auto keep = [&](const Motion& motion, std::int64_t age) {
    if (index(row.count) < Motions && age <= OldestMotion)
      row.motions[index(row.count++)] = {motion.velocity, age};
  };
  std::vector<const Candidate*> bySize;
  for (const Candidate& edge : edges) bySize.push_back(&edge);
  std::sort(bySize.begin(), bySize.end(),
            [](const Candidate* a, const Candidate* b) { return a->isLargerThan(*b); });
  for (const Candidate* edge : bySize)
    if (edges.size() > 1) keep(edge->motionUsed(), 0);
  for (const Candidate* edge : bySize)
    for (std::int64_t m = 1; m < edge->row.count; ++m)
      if (m != edge->motion) keep(edge->row.motions[index(m)], edge->row.motions[index(m)].age + 1);
}

TrackedStep FeatureGraph::Advance::describe() const {
  TrackedStep tracked;
  collectively(transport_, [&] {
    tracked.step = graph_.steps_;
    tracked.first = later_.first();
    std::vector<FeatureEvent> merges;
    forEachLater([&](std::size_t i, const Range& range) {
      const TrackedFeature& feature = rows_[i].feature;
      const std::int64_t number = numberOf(i);
      const auto parts = static_cast<std::int64_t>(range.end - range.begin);
      for (std::size_t c = range.begin; c < range.end; ++c) {
        const Candidate& edge = candidates_[c];
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
    });
    addEndings(FeatureEventKind::Death, tracked.events);
    addEndings(FeatureEventKind::Split, tracked.events);
    tracked.events.insert(tracked.events.end(), merges.begin(), merges.end());
  });
  return tracked;
}

/// Adds the deaths or splits of this rank's earlier features.
void FeatureGraph::Advance::addEndings(FeatureEventKind kind,
                                       std::vector<FeatureEvent>& events) const {
  for (std::size_t i = 0; i < graph_.rows_.size(); ++i) {
    const TrackedFeature& feature = graph_.rows_[i].feature;
    if (kind == FeatureEventKind::Death ? successors_[i] == 0 : successors_[i] > 1)
      events.push_back({kind, earlier_.first() + static_cast<std::int64_t>(i), feature.track,
                        successors_[i], feature.facts.centroid});
  }
}

TrackedStep FeatureGraph::advance(const FeatureStep& step, std::vector<FeatureOverlap> overlaps,
                                  const FixedScale& scale) {
  Advance advance(*this, step);
  advance.checkAndAddUp(overlaps);
  advance.findCandidates(overlaps, scale);
  advance.agreeOnLinks();
  advance.assignTracks();
  TrackedStep tracked = advance.describe();
  rows_ = advance.takeRows();
  tracks_ = advance.tracks();
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

/// The values that all parts of a saved graph have in common.
struct FeatureGraph::SavedHead {
  std::int64_t steps, tracks;
  double time;
  std::int64_t total;

  bool operator!=(const SavedHead& other) const {
    return std::tie(steps, tracks, time, total) !=
           std::tie(other.steps, other.tracks, other.time, other.total);
  }
};

struct FeatureGraph::SavedRow {
  std::int64_t feature;
  Row row;
};

/// Local. Reads this rank's parts.
void FeatureGraph::readParts(const std::vector<Bytes>& parts, std::vector<SavedHead>& heads,
                             std::vector<SavedRow>& rows) {
  for (const Bytes& part : parts) {
    Reader reader(part);
    if (reader.value<std::uint64_t>() != SavedGraph)
      throw Error("the data are not a saved feature graph; give the results of save()");
    const auto steps = reader.value<std::int64_t>(), tracks = reader.value<std::int64_t>();
    const auto time = reader.value<double>();
    const auto total = reader.value<std::int64_t>();
    heads.push_back({steps, tracks, time, total});
    auto feature = reader.value<std::int64_t>();
    const std::vector<Row> saved = reader.range<Row>();
    if (!reader.atEnd())
      throw Error("a part of the saved feature graph is too long; give the results of save()");
    if (feature < 0 || total < feature || total - feature < static_cast<std::int64_t>(saved.size()))
      throw Error(DamagedGraph);
    for (const Row& row : saved) rows.push_back({feature++, row});
  }
}

/// Collective. The head of all parts.
FeatureGraph::SavedHead FeatureGraph::agreeOnHead(Transport& transport,
                                                  const std::vector<SavedHead>& ofParts) {
  const std::vector<SavedHead> heads = allgatherv(transport, ofParts);
  collectively(transport, [&] {
    if (heads.empty()) throw Error("no saved feature graph was given; give the results of save()");
    const SavedHead& head = heads.front();
    for (const SavedHead& other : heads)
      if (other != head)
        throw Error(
            "the parts of the saved feature graph are of different steps; give those of one step");
    // The numbers of later steps and tracks must not overflow.
    if (head.steps < 0 || head.steps > MostCounted || head.tracks < 0 ||
        head.tracks > MostCounted || head.total < 0 || !std::isfinite(head.time))
      throw Error(DamagedGraph);
  });
  return heads.front();
}

void FeatureGraph::load(const std::vector<Bytes>& parts) {
  std::vector<SavedHead> heads;
  std::vector<SavedRow> read;
  collectively(transport_, [&] { readParts(parts, heads, read); });
  const SavedHead head = agreeOnHead(transport_, heads);
  const Owners owners = ownersOf(transport_, head.total);
  std::vector<Row> rows;
  sendRecords<SavedRow>(
      transport_,
      [&](RecordOutbox<SavedRow>& outbox) {
        for (const SavedRow& one : read) {
          const TrackedFeature& feature = one.row.feature;
          if (!owners.exists(one.feature) || !hasMotions(one.row) || feature.track < 0 ||
              feature.track >= head.tracks)
            throw Error(DamagedGraph);
          outbox.add(owners.of(one.feature), one);
        }
      },
      [&](const Records<SavedRow>& mine) {
        // Before memory is allocated: a damaged total may be of any size.
        const std::size_t wanted = index(owners.shares.count(owners.rank));
        if (mine.size() < wanted)
          throw Error("parts of the saved feature graph are missing; give those of all ranks");
        rows.resize(wanted);
        std::vector<char> isPresent(rows.size(), 0);
        for (const SavedRow& one : mine) {
          const std::size_t at = owners.here(one.feature);
          if (isPresent[at]++ != 0)
            throw Error("a part of the saved feature graph was given twice; give each once");
          rows[at] = one.row;
        }
      });
  steps_ = head.steps;
  tracks_ = head.tracks;
  time_ = head.time;
  total_ = head.total;
  rows_ = std::move(rows);
}

}  // namespace tributary
