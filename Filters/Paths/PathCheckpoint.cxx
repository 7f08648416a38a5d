// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathCheckpoint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "Common/FreshArray.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Shares.h"

namespace tributary {
namespace {

/// A particle of one of several states, and its place in the order of particles.
struct Placed {
  const PathParticle* particle;
  std::size_t state;
  std::int64_t index;  ///< In PathHistory::particles of that state.
};

void writeTexts(Writer& writer, const std::vector<std::string>& texts) {
  writer.value(std::uint64_t(texts.size()));
  for (const std::string& text : texts) writer.text(text);
}

std::vector<std::string> readTexts(Reader& reader) {
  std::vector<std::string> texts;
  for (auto left = reader.value<std::uint64_t>(); left > 0; --left) texts.push_back(reader.text());
  return texts;
}

void writeFields(Writer& writer, const PathPoints& segment) {
  writer.value(std::uint64_t(segment.fields.size()));
  for (const PointField& field : segment.fields) {
    writer.value(field.kind).text(field.name).value(field.type).value(field.components);
    writer.value(std::uint64_t(field.array));
  }
  writer.value(std::uint64_t(segment.list.arrays.size()));
  for (const PointArray& array : segment.list.arrays) {
    writer.text(array.name).value(array.type).value(array.components);
    writeTexts(writer, array.componentNames);
    writer.value(array.isScalars).value(array.isVectors);
  }
  writeTexts(writer, segment.list.dropped);
  writeTexts(writer, segment.list.fleeting);
  writeTexts(writer, segment.list.missing);
}

/// The size of a value of a type of VTK that fields can have.
std::size_t valueSize(int type) {
  constexpr int Types[] = {VTK_CHAR,           VTK_SIGNED_CHAR, VTK_UNSIGNED_CHAR,      VTK_SHORT,
                           VTK_UNSIGNED_SHORT, VTK_INT,         VTK_UNSIGNED_INT,       VTK_LONG,
                           VTK_UNSIGNED_LONG,  VTK_LONG_LONG,   VTK_UNSIGNED_LONG_LONG, VTK_FLOAT,
                           VTK_DOUBLE,         VTK_ID_TYPE};
  if (std::find(std::begin(Types), std::end(Types), type) == std::end(Types))
    refuseMessage("a field of paths of an unknown type");
  return static_cast<std::size_t>(vtkDataArray::GetDataTypeSize(type));
}

/// @param positionType  of VTK
PathPoints readFields(Reader& reader, int positionType) {
  PathPoints segment;
  for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
    PointField& field = segment.fields.emplace_back();
    field.kind = reader.value<PointField::Kind>();
    field.name = reader.text();
    field.type = reader.value<int>();
    field.components = reader.value<int>();
    field.array = static_cast<std::size_t>(reader.value<std::uint64_t>());
    if (field.components < 1 || field.components > 1 << 20)
      refuseMessage("a field of paths with " + std::to_string(field.components) + " components");
    field.bytes = valueSize(field.type) * index(field.components);
  }
  for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
    PointArray& array = segment.list.arrays.emplace_back();
    array.name = reader.text();
    array.type = reader.value<int>();
    array.components = reader.value<int>();
    array.componentNames = readTexts(reader);
    array.isScalars = reader.value<std::uint8_t>() != 0;
    array.isVectors = reader.value<std::uint8_t>() != 0;
  }
  segment.list.dropped = readTexts(reader);
  segment.list.fleeting = readTexts(reader);
  segment.list.missing = readTexts(reader);
  const auto isWrong = [&](const PointField& field) {
    return field.kind == PointField::Kind::Interpolated &&
           field.array >= segment.list.arrays.size();
  };
  if (std::any_of(segment.fields.begin(), segment.fields.end(), isWrong))
    refuseMessage("a field of paths of no array");
  const auto count = [&](PointField::Kind kind, const char* name, int type, int components) {
    return std::count_if(segment.fields.begin(), segment.fields.end(), [&](const auto& field) {
      return field.kind == kind && (!name || field.name == name) && field.type == type &&
             field.components == components;
    });
  };
  if (!segment.fields.empty() &&
      (count(PointField::Kind::Position, nullptr, positionType, 3) != 1 ||
       count(PointField::Kind::Time, "SimulationTime", VTK_DOUBLE, 1) != 1))
    refuseMessage("points of paths without positions or times");
  return segment;
}

/// A state without particles, with the contents of a common part.
struct Common {
  SavedSteps steps;
  SavedPaths paths;
};

Common readCommon(const Bytes& bytes) {
  Reader reader(bytes);
  Common common;
  common.steps.added = reader.range<double>();
  const std::vector<double> passedOver = reader.range<double>();
  common.steps.passedOver.insert(passedOver.begin(), passedOver.end());
  PathHistory& history = common.paths.history;
  history.injections = reader.range<PathInjection>();
  if (reader.value<std::uint8_t>() != 0) {
    common.paths.seeds.emplace();
    common.paths.seeds->total = reader.value<std::int64_t>();
  }
  for (std::size_t s = 0; s < common.steps.added.size(); ++s) {
    PathSegment& segment = history.segments.emplace_back();
    static_cast<PathPoints&>(segment) = readFields(reader, VTK_FLOAT);
    segment.crossings = readFields(reader, VTK_DOUBLE);
  }
  std::int64_t left = std::numeric_limits<std::int64_t>::max() / 2;  // ids of particles
  const auto isWrong = [&](const PathInjection& injection) {
    if (injection.seeds < 1 || injection.seeds > left || injection.step < 0 ||
        index(injection.step) >= history.segments.size())
      return true;
    left -= injection.seeds;
    return false;
  };
  if (!reader.atEnd() || common.steps.added.empty() ||
      !std::is_sorted(common.steps.added.begin(), common.steps.added.end()) ||
      std::any_of(history.injections.begin(), history.injections.end(), isWrong) ||
      !std::is_sorted(history.injections.begin(), history.injections.end(),
                      [](const auto& a, const auto& b) { return a.step < b.step; }) ||
      (common.paths.seeds && common.paths.seeds->total < 1))
    refuseMessage("malformed steps or injections of paths");
  return common;
}

/// Checks a particle that was read.
void check(const PathParticle& particle, const std::vector<PathInjection>& injections) {
  const auto injection = index(particle.injection);
  if (particle.injection < 0 || injection >= injections.size() || particle.seed < 0 ||
      particle.seed >= injections[injection].seeds)
    refuseMessage("a particle of no seed");
}

/// Checks what a particle did before a step.
/// @param points  of all particles there
void check(const PathEntry& entry, const PathHistory& history, std::size_t step,
           std::int64_t points) {
  const std::vector<PathParticle>& particles = history.particles;
  if (entry.particle < 0 || index(entry.particle) >= particles.size() || entry.first < 0 ||
      entry.points < 0 || entry.first > points || entry.points > points - entry.first)
    refuseMessage("the points of a particle that is not there");
  const PathParticle& particle = particles[index(entry.particle)];
  if (index(history.injections[index(particle.injection)].step) > step)
    refuseMessage("the points of a particle before its injection");
  if (entry.event < -1 || entry.event >= MostEvents ||
      (entry.event >= 0) != (entry.reason == Reason::Event))
    refuseMessage("a particle that event " + std::to_string(entry.event) + " has ended");
  if (entry.event < 0 && entry.target != -1)
    refuseMessage("a particle that has ended at surface " + std::to_string(entry.target));
}

/// Checks what a particle has done before a step.
void check(const PathProgress& progress) {
  const bool isWrong = std::any_of(std::begin(progress.count), std::end(progress.count),
                                   [](std::int32_t count) { return count < 0; });
  if (isWrong || progress.crossings() >= std::numeric_limits<std::int32_t>::max() / 2 ||
      !std::isfinite(progress.length) || progress.length < 0)
    refuseMessage("a particle with " + std::to_string(progress.crossings()) +
                  " crossings and length " + std::to_string(progress.length));
}

/// Reads the entries and the arrays of points, whose fields are known.
void readPoints(Reader& reader, const PathHistory& history, std::size_t step, PathPoints& segment) {
  segment.entries = reader.range<PathEntry>();
  const auto points = reader.value<std::int64_t>();
  if (points != 0 && segment.fields.empty()) refuseMessage("points of paths without fields");
  for (const PathEntry& entry : segment.entries) check(entry, history, step, points);
  for (const PointField& field : segment.fields) {
    if (points < 0 || index(points) > reader.remaining() / field.bytes)
      refuseMessage("too few points of paths");
    const Span<const std::byte> values = reader.raw(index(points) * field.bytes);
    auto array = freshArrayOf(field.type, field.name.c_str(), field.components, points);
    if (values.size() > 0) std::memcpy(array->GetVoidPointer(0), values.data(), values.size());
    segment.arrays.push_back(array);
  }
}

void writePoints(Writer& writer, const PathPoints& segment) {
  const std::int64_t points =
      segment.arrays.empty() ? 0 : segment.arrays.front()->GetNumberOfTuples();
  writer.range(segment.entries).value(points);
  for (std::size_t f = 0; f < segment.arrays.size(); ++f) {
    const std::size_t bytes = index(points) * segment.fields[f].bytes;
    if (bytes > 0) std::memcpy(writer.extend(bytes), segment.arrays[f]->GetVoidPointer(0), bytes);
  }
}

SavedPaths readPart(const Bytes& bytes, const SavedPaths& common) {
  SavedPaths paths = common;
  PathHistory& history = paths.history;
  Reader reader(bytes);
  history.particles = reader.range<PathParticle>();
  for (const PathParticle& particle : history.particles) check(particle, history.injections);
  if (paths.seeds) {
    paths.seeds->seeds = reader.range<PathSeed>();
    for (const PathSeed& seed : paths.seeds->seeds)
      if (seed.place < 0 || seed.place >= paths.seeds->total) refuseMessage("a seed of no place");
  }
  for (std::size_t step = 0; step < history.segments.size(); ++step) {
    PathSegment& segment = history.segments[step];
    readPoints(reader, history, step, segment);
    segment.progress = reader.range<PathProgress>();
    if (!segment.progress.empty() && segment.progress.size() != segment.entries.size())
      refuseMessage("crossings of particles that are not there");
    for (const PathProgress& progress : segment.progress) check(progress);
    readPoints(reader, history, step, segment.crossings);
  }
  if (!reader.atEnd()) refuseMessage("paths with bytes that belong to nothing");
  return paths;
}

/// The points of several states at a step, of the particles that are picked.
/// @param newIndex  [state][particle], -1 if it is not picked
/// @param before  [state] the progress of its entries, or none
/// @param progress  receives that of the result; null for crossings, whose entries have none
PathPoints pickPoints(const std::vector<const PathPoints*>& states,
                      const std::vector<std::vector<std::int64_t>>& newIndex,
                      const std::vector<const std::vector<PathProgress>*>& before,
                      std::vector<PathProgress>* progress) {
  struct Range {
    PathEntry entry;  // of the result, but for `first`
    std::size_t state;
    std::size_t place;  // of the entry
    std::int64_t first;
  };
  PathPoints segment;
  segment.fields = states.front()->fields;
  segment.list = states.front()->list;
  std::vector<Range> ranges;
  for (std::size_t state = 0; state < states.size(); ++state)
    for (std::size_t e = 0; e < states[state]->entries.size(); ++e) {
      const PathEntry& entry = states[state]->entries[e];
      const std::int64_t at = newIndex[state][index(entry.particle)];
      if (at < 0) continue;
      ranges.push_back({entry, state, e, entry.first});
      ranges.back().entry.particle = at;
    }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.entry.particle < b.entry.particle; });
  std::int64_t points = 0;
  for (Range& range : ranges) {
    range.entry.first = points;
    points += range.entry.points;
    segment.entries.push_back(range.entry);
    if (progress && !before[range.state]->empty())
      progress->push_back((*before[range.state])[range.place]);
  }
  if (progress && progress->size() != 0 && progress->size() != segment.entries.size())
    refuseMessage("crossings of some particles only");
  for (std::size_t f = 0; f < segment.fields.size(); ++f) {
    const PointField& field = segment.fields[f];
    auto array = freshArrayOf(field.type, field.name.c_str(), field.components, points);
    auto* to = static_cast<std::byte*>(array->GetVoidPointer(0));
    for (const Range& range : ranges) {
      const std::size_t bytes = index(range.entry.points) * field.bytes;
      if (bytes == 0) continue;
      vtkDataArray* from = states[range.state]->arrays[f];
      std::memcpy(
          to, static_cast<std::byte*>(from->GetVoidPointer(0)) + index(range.first) * field.bytes,
          bytes);
      to += bytes;
    }
    segment.arrays.push_back(array);
  }
  return segment;
}

/// The particles that are placed, in this order, with their points.
PathHistory pick(const std::vector<const PathHistory*>& states, const std::vector<Placed>& placed) {
  std::vector<std::vector<std::int64_t>> newIndex;  // as pickPoints() has it
  for (const PathHistory* state : states) newIndex.emplace_back(state->particles.size(), -1);
  PathHistory history;
  history.injections = states.front()->injections;
  for (const Placed& one : placed) {
    newIndex[one.state][index(one.index)] = static_cast<std::int64_t>(history.particles.size());
    history.particles.push_back(*one.particle);
  }
  for (std::size_t s = 0; s < states.front()->segments.size(); ++s) {
    PathSegment& segment = history.segments.emplace_back();
    std::vector<const PathPoints*> points, crossings;
    std::vector<const std::vector<PathProgress>*> progress;
    for (const PathHistory* state : states) {
      points.push_back(&state->segments[s]);
      crossings.push_back(&state->segments[s].crossings);
      progress.push_back(&state->segments[s].progress);
    }
    static_cast<PathPoints&>(segment) = pickPoints(points, newIndex, progress, &segment.progress);
    segment.crossings = pickPoints(crossings, newIndex, progress, nullptr);
  }
  return history;
}

/// The part of each rank in a state of any ranks.
std::vector<Bytes> splitByOwner(const SavedPaths& paths, int ranks) {
  const PathHistory& history = paths.history;
  std::vector<std::vector<Placed>> placed(static_cast<std::size_t>(ranks));
  for (std::size_t p = 0; p < history.particles.size(); ++p) {
    const PathParticle& particle = history.particles[p];
    const Shares shares{history.injections[index(particle.injection)].seeds, ranks};
    placed[static_cast<std::size_t>(shares.ownerOf(particle.seed))].push_back(
        {&particle, 0, static_cast<std::int64_t>(p)});
  }
  std::vector<Bytes> toEachRank(static_cast<std::size_t>(ranks));
  for (std::size_t r = 0; r < toEachRank.size(); ++r) {
    std::optional<PathSeeds> seeds;
    if (paths.seeds) {
      seeds.emplace();
      const Shares shares{paths.seeds->total, ranks};
      for (const PathSeed& seed : paths.seeds->seeds)
        if (shares.ownerOf(seed.place) == static_cast<int>(r)) seeds->seeds.push_back(seed);
    }
    if (!placed[r].empty() || (seeds && !seeds->seeds.empty()))
      toEachRank[r] = savePart(pick({&history}, placed[r]), seeds);
  }
  return toEachRank;
}

/// One state of several that have different particles and seeds.
SavedPaths merged(const std::vector<SavedPaths>& all) {
  std::vector<const PathHistory*> states;
  std::vector<Placed> placed;
  SavedPaths paths;
  for (std::size_t s = 0; s < all.size(); ++s) {
    states.push_back(&all[s].history);
    for (std::size_t p = 0; p < states[s]->particles.size(); ++p)
      placed.push_back({&states[s]->particles[p], s, static_cast<std::int64_t>(p)});
    if (!all[s].seeds) continue;
    if (!paths.seeds) paths.seeds = PathSeeds{{}, all[s].seeds->total};
    const std::vector<PathSeed>& seeds = all[s].seeds->seeds;
    paths.seeds->seeds.insert(paths.seeds->seeds.end(), seeds.begin(), seeds.end());
  }
  const auto key = [](const Placed& one) {
    return std::make_tuple(one.particle->injection, one.particle->seed);
  };
  std::sort(placed.begin(), placed.end(),
            [&](const Placed& a, const Placed& b) { return key(a) < key(b); });
  if (std::adjacent_find(placed.begin(), placed.end(), [&](const Placed& a, const Placed& b) {
        return key(a) == key(b);
      }) != placed.end())
    refuseMessage("a particle twice");
  if (paths.seeds)
    std::sort(paths.seeds->seeds.begin(), paths.seeds->seeds.end(),
              [](const PathSeed& a, const PathSeed& b) { return a.place < b.place; });
  paths.history = pick(states, placed);
  return paths;
}

/// Throws Error unless the static seeds are those of this rank.
void checkSeeds(const PathSeeds& seeds, const Transport& transport) {
  const Shares shares{seeds.total, transport.size()};
  std::int64_t next = shares.first(transport.rank());
  bool isRight = static_cast<std::int64_t>(seeds.seeds.size()) == shares.count(transport.rank());
  for (const PathSeed& seed : seeds.seeds) isRight = isRight && seed.place == next++;
  if (!isRight) refuseMessage("seeds that are missing, or twice");
}

}  // namespace

Bytes saveCommon(const SavedSteps& steps, const PathHistory& history,
                 const std::optional<PathSeeds>& seeds) {
  Writer writer;
  writer.range(steps.added);
  writer.range(std::vector<double>(steps.passedOver.begin(), steps.passedOver.end()));
  writer.range(history.injections);
  writer.value(std::uint8_t(seeds.has_value()));
  if (seeds) writer.value(seeds->total);
  for (const PathSegment& segment : history.segments) {
    writeFields(writer, segment);
    writeFields(writer, segment.crossings);
  }
  return writer.take();
}

SavedSteps loadSteps(const Bytes& common) {
  return readCommon(common).steps;
}

Bytes savePart(const PathHistory& history, const std::optional<PathSeeds>& seeds) {
  Writer writer;
  writer.range(history.particles);
  if (seeds) writer.range(seeds->seeds);
  for (const PathSegment& segment : history.segments) {
    writePoints(writer, segment);
    writer.range(segment.progress);
    writePoints(writer, segment.crossings);
  }
  return writer.take();
}

SavedPaths loadPaths(Transport& transport, const Bytes& common, const std::vector<Bytes>& parts) {
  SavedPaths base;
  std::vector<Bytes> toEachRank;
  ErrorCollector errors;
  errors.attempt([&] {
    base = readCommon(common).paths;
    std::vector<SavedPaths> mine;
    for (const Bytes& part : parts) mine.push_back(readPart(part, base));
    if (!mine.empty()) toEachRank = splitByOwner(merged(mine), transport.size());
  });
  std::vector<Bytes> arrived = exchangeBytes(transport, std::move(toEachRank), errors);
  SavedPaths paths;
  errors.attempt([&] {
    std::vector<SavedPaths> all{base};
    for (Bytes& part : arrived) {
      if (part.empty()) continue;
      all.push_back(readPart(part, base));
      part = {};
    }
    paths = merged(all);
    const PathHistory& history = paths.history;
    for (const PathParticle& particle : history.particles) {
      const Shares shares{history.injections[index(particle.injection)].seeds, transport.size()};
      if (shares.ownerOf(particle.seed) != transport.rank())
        refuseMessage("a particle of another rank");
    }
    if (paths.seeds) checkSeeds(*paths.seeds, transport);
  });
  errors.agree(transport);
  return paths;
}

}  // namespace tributary
