// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/FeatureOverlap.h"

#include <algorithm>
#include <tuple>

#include "Tributary/Base/FixedSum.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

using Place = std::array<double, 3>;

/// FeatureAtPlace in a message.
struct Answer {
  std::int64_t isOfPart, feature;
};

}  // namespace

void FeatureAtPlace::add(const FeatureAtPlace& other) {
  if (isOfPart && !other.isOfPart) return;
  const bool isReplaced = !isOfPart && other.isOfPart;
  if (isReplaced || feature < 0 || (other.feature >= 0 && other.feature < feature))
    feature = other.feature;
  isOfPart = other.isOfPart;
}

void FeatureReach::add(const Box& box) {
  for (std::size_t a = 0; a < 3; ++a)
    if (!(box.lo[a] <= box.hi[a])) return;
  include(all, box);
  boxes.push_back(box);
}

bool FeatureReach::contains(const Place& place) const {
  return all.contains(place.data()) && std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) {
           return box.contains(place.data());
         });
}

std::vector<FeatureReach> gatherReaches(Transport& transport, const std::vector<Box>& boxes) {
  std::vector<std::int64_t> counts;
  const std::vector<Box> all = allgatherv(transport, boxes, &counts);
  std::vector<FeatureReach> reaches;
  collectively(transport, [&] {
    reaches.resize(counts.size());
    std::size_t at = 0;
    for (std::size_t r = 0; r < counts.size(); ++r)
      for (std::int64_t i = 0; i < counts[r]; ++i) reaches[r].add(all[at++]);
  });
  return reaches;
}

void addUp(std::vector<FeatureOverlap>& overlaps) {
  const auto key = [](const FeatureOverlap& o) { return std::tie(o.before, o.after, o.motion); };
  std::sort(overlaps.begin(), overlaps.end(),
            [&](const FeatureOverlap& a, const FeatureOverlap& b) { return key(a) < key(b); });
  std::size_t count = 0;
  for (const FeatureOverlap& overlap : overlaps) {
    if (count > 0 && key(overlaps[count - 1]) == key(overlap))
      addChecked(overlaps[count - 1].volume, overlap.volume);
    else
      overlaps[count++] = overlap;
  }
  overlaps.resize(count);
}

std::vector<FeatureOverlap> findOverlaps(
    Transport& transport, Span<const FeatureSample> samples,
    const std::vector<FeatureReach>& reaches,
    const std::function<FeatureAtPlace(const std::array<double, 3>&)>& featureAt) {
  std::vector<FeatureAtPlace> found;
  std::vector<std::vector<std::size_t>> asked;  // samples that each rank is asked about
  ErrorCollector errors;
  const auto answers = askRanks<Answer, Place>(
      transport, errors,
      [&](RecordOutbox<Place>& outbox) {
        found.resize(samples.size());
        asked.resize(reaches.size());
        for (std::size_t i = 0; i < samples.size(); ++i) {
          for (std::size_t r = 0; r < reaches.size(); ++r) {
            if (!reaches[r].contains(samples[i].place)) continue;
            if (static_cast<int>(r) == transport.rank()) {
              found[i].add(featureAt(samples[i].place));
            } else {
              outbox.add(static_cast<int>(r), samples[i].place);
              asked[r].push_back(i);
            }
          }
        }
      },
      [&](const Place& place, int) {
        const FeatureAtPlace here = featureAt(place);
        return Answer{here.isOfPart ? 1 : 0, here.feature};
      });
  std::vector<FeatureOverlap> overlaps;
  if (!errors.anyKnown()) {
    errors.attempt([&] {
      for (std::size_t r = 0; r < asked.size(); ++r) {
        const Span<const Answer> there = answers.from(static_cast<int>(r));
        for (std::size_t i = 0; i < there.size(); ++i)
          found[asked[r][i]].add({there[i].isOfPart != 0, there[i].feature});
      }
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::int64_t after = found[i].feature;
        if (after < 0) continue;
        const FeatureSample& sample = samples[i];
        // Neighboring samples are often of the same features.
        if (!overlaps.empty() && overlaps.back().before == sample.feature &&
            overlaps.back().motion == sample.motion && overlaps.back().after == after)
          addChecked(overlaps.back().volume, sample.volume);
        else
          overlaps.push_back({sample.feature, sample.motion, after, sample.volume});
      }
      addUp(overlaps);
    });
  }
  errors.agree(transport);
  return overlaps;
}

}  // namespace tributary
