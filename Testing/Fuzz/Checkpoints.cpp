// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: the index of a folder, and the saved states of a feature graph and of a tracker of
// critical points. The first byte of an input chooses.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "Harness.h"
#include "Time/Checkpoint.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Features/CriticalPoints.h"
#include "Tributary/Features/FeatureGraph.h"
#include "Tributary/Transport/Loopback.h"

namespace tributary::fuzz {

namespace {

namespace fs = std::filesystem;

/// An empty folder of this process and purpose, removed at the end.
struct Folder {
  explicit Folder(const std::string& purpose)
      : path(fs::temp_directory_path() /
             ("tributary-fuzz-" + std::to_string(getpid()) + "-" + purpose)) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  const fs::path path;
};

/// @param bytes  without the checksum, of which an input would never have the right one
void readFolder(Transport& transport, Span<const std::byte> bytes) {
  static const Folder folder("decode");
  Bytes all(bytes.begin(), bytes.end());
  const std::uint64_t checksum = checksumOf(bytes);
  append(all, &checksum, sizeof checksum);
  std::ofstream(folder.path / "features.index", std::ios::binary)
      .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
  const Checkpoint checkpoint(folder.path.string(), "features");
  if (const auto index = checkpoint.find()) (void)checkpoint.read(transport, *index);
}

FeatureStep stepAt(double time) {
  return {time, 2, {{1.0, {0, 0, 0}}, {2.0, {1, 1, 0}}}};
}

std::vector<FeatureOverlap> overlaps(const FixedScale& scale) {
  return {{0, 0, 0, scale.fixed(1)}, {0, 0, 1, scale.fixed(0.5)}, {1, 0, 1, scale.fixed(2)}};
}

TrackingOptions tracking() {
  TrackingOptions options;
  options.motion = FeatureMotion::Estimated;
  return options;
}

/// Loads a graph and goes on with it.
void readGraph(Transport& transport, Span<const std::byte> bytes) {
  FeatureGraph graph(transport, tracking());
  graph.load({Bytes(bytes.begin(), bytes.end())});
  const FixedScale scale(10);
  const double time = graph.time() + 1;
  (void)graph.moved({{{0, 0, 0}, 0, 0, scale.fixed(1)}}, time);
  (void)graph.advance(stepAt(time), overlaps(scale), scale);
  (void)graph.save();
}

/// A square with a vortex of scalars in it.
struct Square {
  explicit Square(Transport& transport) {
    GridAxes axes;
    axes.coordinates = {std::vector<double>{0, 1, 2, 3}, {0, 1, 2, 3}, {0}};
    GridExtent extent;
    extent.last = {3, 3, 0};
    space = makeGridSpace(transport, Assignment(std::vector<std::int64_t>{1}), axes, {extent});
  }
  static std::vector<double> scalars(double time) {
    std::vector<double> values;
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        values.push_back((i - 1.3 - time) * (i - 1.3 - time) + (j - 1.6) * (j - 1.6));
    return values;
  }
  std::unique_ptr<SimplicialSpace> space;
};

void readTracker(Transport& transport, Span<const std::byte> bytes) {
  const Square square(transport);
  CriticalPointTracker tracker(transport, *square.space);
  const std::vector<double> last = square.scalars(0), next = square.scalars(0.1);
  tracker.resumeScalars({Bytes(bytes.begin(), bytes.end())}, {{last.data(), last.size()}});
  (void)tracker.addScalars(1, {{next.data(), next.size()}});
  (void)tracker.save();
}

constexpr void (*Kinds[])(Transport&, Span<const std::byte>) = {readFolder, readGraph, readTracker};

Seed seed(const std::string& name, std::uint8_t kind, const Bytes& bytes) {
  Bytes input = Writer().value(kind).take();
  append(input, bytes.data(), bytes.size());
  return {name, input};
}

}  // namespace

void decode(Span<const std::byte> input) {
  if (input.size() == 0) return;
  const std::size_t kind = static_cast<std::uint8_t>(input[0]) % std::size(Kinds);
  const auto transport = makeLoopbackTransport();
  Kinds[kind](*transport, {input.data() + 1, input.size() - 1});
}

std::vector<Seed> seeds() {
  std::vector<Seed> all;
  const auto transport = makeLoopbackTransport();
  {
    const Folder folder("seeds");
    CheckpointIndex index;
    index.steps = {0, 1};
    index.time = 1;
    index.basis = Bytes(5, std::byte{1});
    Checkpoint(folder.path.string(), "features").write(*transport, index, Bytes(3, std::byte{7}));
    std::ifstream file(folder.path / "features.index", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    Bytes bytes;
    append(bytes, text.data(), text.size() - sizeof(std::uint64_t));
    all.push_back(seed("index", 0, bytes));
  }
  FeatureGraph graph(*transport, tracking());
  const FixedScale scale(10);
  (void)graph.advance(stepAt(0), {}, scale);
  (void)graph.advance(stepAt(1), overlaps(scale), scale);
  all.push_back(seed("graph", 1, graph.save()));
  const Square square(*transport);
  CriticalPointTracker tracker(*transport, *square.space);
  const std::vector<double> values = square.scalars(0);
  (void)tracker.addScalars(0, {{values.data(), values.size()}});
  all.push_back(seed("tracker", 2, tracker.save()));
  return all;
}

}  // namespace tributary::fuzz
