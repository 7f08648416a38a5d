// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/FeatureOverlap.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

using Place = std::array<double, 3>;

constexpr std::int64_t Nothing = std::numeric_limits<std::int64_t>::max();

/// The boxes of one rank, and one around them.
struct Reach {
  Box all;
  std::vector<Box> boxes;

  void add(const Box& box) {
    if (box.empty()) return;
    if (boxes.empty()) all = box;
    for (std::size_t a = 0; a < 3; ++a) {
      all.lo[a] = std::min(all.lo[a], box.lo[a]);
      all.hi[a] = std::max(all.hi[a], box.hi[a]);
    }
    boxes.push_back(box);
  }
  bool contains(const Place& place) const {
    return !boxes.empty() && all.contains(place.data()) &&
           std::any_of(boxes.begin(), boxes.end(),
                       [&](const Box& box) { return box.contains(place.data()); });
  }
};

std::vector<Reach> reachesOf(Transport& transport, const std::vector<Box>& boxes) {
  std::vector<std::int64_t> counts;
  const std::vector<Box> all = allgatherv(transport, boxes, &counts);
  std::vector<Reach> reaches(counts.size());
  std::size_t at = 0;
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::int64_t i = 0; i < counts[r]; ++i) reaches[r].add(all[at++]);
  return reaches;
}

}  // namespace

void addUp(std::vector<FeatureOverlap>& overlaps) {
  const auto key = [](const FeatureOverlap& o) { return std::tie(o.before, o.after, o.motion); };
  std::sort(overlaps.begin(), overlaps.end(),
            [&](const FeatureOverlap& a, const FeatureOverlap& b) { return key(a) < key(b); });
  std::size_t count = 0;
  for (const FeatureOverlap& overlap : overlaps) {
    if (count > 0 && key(overlaps[count - 1]) == key(overlap))
      overlaps[count - 1].volume += overlap.volume;
    else
      overlaps[count++] = overlap;
  }
  overlaps.resize(count);
}

std::vector<FeatureOverlap> findOverlaps(
    Transport& transport, Span<const FeatureSample> samples, const std::vector<Box>& boxes,
    const std::function<std::int64_t(const std::array<double, 3>&)>& featureAt) {
  const std::vector<Reach> reaches = reachesOf(transport, boxes);
  const auto here = static_cast<std::size_t>(transport.rank());
  std::vector<std::int64_t> found(samples.size(), Nothing);
  std::vector<std::vector<Place>> places(reaches.size());
  std::vector<std::vector<std::size_t>> asked(reaches.size());  // of which samples
  ErrorCollector errors;
  errors.attempt([&] {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (std::size_t r = 0; r < reaches.size(); ++r) {
        if (!reaches[r].contains(samples[i].place)) continue;
        if (r == here) {
          const std::int64_t feature = featureAt(samples[i].place);
          if (feature >= 0) found[i] = std::min(found[i], feature);
        } else {
          places[r].push_back(samples[i].place);
          asked[r].push_back(i);
        }
      }
    }
  });
  std::vector<Bytes> bytes(reaches.size());
  for (std::size_t r = 0; r < bytes.size(); ++r)
    if (!places[r].empty()) bytes[r] = Writer().range(places[r]).take();
  places = {};
  const std::vector<Bytes> questions = exchangeBytes(transport, std::move(bytes));
  std::vector<Bytes> answers(reaches.size());
  errors.attempt([&] {
    for (std::size_t r = 0; r < questions.size(); ++r) {
      if (questions[r].empty()) continue;
      std::vector<std::int64_t> features;
      for (const Place& place : Reader(questions[r]).range<Place>())
        features.push_back(featureAt(place));
      answers[r] = Writer().range(features).take();
    }
  });
  const std::vector<Bytes> replies = exchangeBytes(transport, std::move(answers));
  std::vector<FeatureOverlap> overlaps;
  errors.attempt([&] {
    for (std::size_t r = 0; r < replies.size(); ++r) {
      std::vector<std::int64_t> features;
      if (!replies[r].empty()) features = Reader(replies[r]).range<std::int64_t>();
      // A rank that was in trouble has not answered; its error is agreed on below.
      if (!features.empty() && features.size() != asked[r].size())
        throw Error(
            "malformed message: answers to other questions; do all ranks run the same "
            "version of the program?");
      for (std::size_t i = 0; i < features.size(); ++i)
        if (features[i] >= 0) found[asked[r][i]] = std::min(found[asked[r][i]], features[i]);
    }
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (found[i] != Nothing)
        overlaps.push_back({samples[i].feature, samples[i].motion, found[i], samples[i].volume});
    addUp(overlaps);
  });
  errors.agree(transport);
  return overlaps;
}

}  // namespace tributary
