// SPDX-License-Identifier: BSD-3-Clause
// The solver of the example in situ: compared with a formula and with published values, on any
// number of ranks.
#include "ChannelFlow.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "Restart.h"

namespace {

/// A field of a flow at a node of the whole grid; on the ranks that have it, others get NaN.
std::vector<double> valueAt(const FlowFields& flow, const std::string& name, int x, int y, int z) {
  const auto& e = flow.extent;
  const auto field = std::find_if(flow.fields.begin(), flow.fields.end(),
                                  [&](const Field& f) { return f.name == name; });
  const auto width = static_cast<std::size_t>(field->components);
  if (x < e[0] || x > e[1] || y < e[2] || y > e[3]) return std::vector<double>(width, NAN);
  const int node = x - e[0] + (e[1] - e[0] + 1) * (y - e[2] + (e[3] - e[2] + 1) * (z - e[4]));
  const auto begin = field->values.begin() + static_cast<std::ptrdiff_t>(width) * node;
  return {begin, begin + field->components};
}

/// The same on all ranks.
double everywhere(double mine) {
  double value = std::isnan(mine) ? -HUGE_VAL : mine;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

ChannelSettings smallChannel() {
  ChannelSettings settings;
  settings.length = 6;
  settings.resolution = 6;
  settings.layers = 3;
  settings.velocity = 0.1;
  settings.reynolds = 60;
  return settings;
}

void take(ChannelFlow& flow, int steps) {
  for (int step = 0; step < steps; ++step) flow.step();
}

/// Compares all fields on this rank with those of a flow that has all nodes on this rank.
void expectSame(const ChannelFlow& distributed, const ChannelFlow& whole) {
  const FlowFields mine = distributed.fields(), all = whole.fields();
  ASSERT_EQ(mine.fields.size(), all.fields.size());
  for (const Field& field : mine.fields)
    for (int z = mine.extent[4]; z <= mine.extent[5]; ++z)
      for (int y = mine.extent[2]; y <= mine.extent[3]; ++y)
        for (int x = mine.extent[0]; x <= mine.extent[1]; ++x)
          ASSERT_EQ(valueAt(mine, field.name, x, y, z), valueAt(all, field.name, x, y, z))
              << field.name << " at " << x << " " << y << " " << z;
}

TEST(ChannelFlowTest, FieldsHaveTheSameBitsOnAnyNumberOfRanks) {
  ChannelFlow flow(MPI_COMM_WORLD, smallChannel()), whole(MPI_COMM_SELF, smallChannel());
  take(flow, 60);
  take(whole, 60);
  expectSame(flow, whole);
  EXPECT_GT(std::abs(everywhere(valueAt(flow.fields(), "velocity", 24, 12, 0)[1])), 1e-3);
}

TEST(ChannelFlowTest, ARestartedFlowContinuesWithTheSameBitsOnOtherRanks) {
  const std::string path = (std::filesystem::temp_directory_path() / "ChannelFlowTest").string() +
                           std::to_string(static_cast<int>(everywhere(getpid())));
  ChannelFlow written(MPI_COMM_WORLD, smallChannel());
  take(written, 25);
  // What a run that was stopped has left is longer.
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::ofstream(path + ".part") << std::string(10'000'000, 'x');
  MPI_Barrier(MPI_COMM_WORLD);
  writeRestart(path, written, 5);
  ChannelFlow same(MPI_COMM_WORLD, smallChannel()), alone(MPI_COMM_SELF, smallChannel());
  readRestart(path, same, 5);
  readRestart(path, alone, 5);
  EXPECT_EQ(alone.steps(), 25);
  for (ChannelFlow* flow : {&written, &same, &alone}) take(*flow, 25);
  expectSame(written, alone);
  expectSame(same, alone);

  ChannelSettings other = smallChannel();
  other.reynolds = 61;
  ChannelFlow refused(MPI_COMM_WORLD, other);
  EXPECT_THROW(readRestart(path, refused, 5), std::runtime_error);
  EXPECT_THROW(readRestart(path, same, 6), std::runtime_error);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_THROW(readRestart(path, same, 5), std::runtime_error);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_THROW(readRestart(path, same, 5), std::runtime_error);
}

/// The next tests run on one rank: others have the same bits.
bool isAlone() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks == 1;
}

TEST(ChannelFlowTest, AChannelWithoutACylinderHasTheProfileAndPressureOfPoiseuille) {
  if (!isAlone()) GTEST_SKIP();
  ChannelSettings settings;
  settings.hasCylinder = false;
  settings.reynolds = 20;
  settings.resolution = 5;
  settings.length = 12;
  settings.layers = 1;
  settings.velocity = 0.1;
  ChannelFlow flow(MPI_COMM_WORLD, settings);
  take(flow, 4000);
  const FlowFields fields = flow.fields();
  const auto& nodes = flow.decomposition().nodes();
  for (int y = 0; y < nodes[1]; ++y) {
    const double s = (y + 0.5) / nodes[1];
    EXPECT_NEAR(everywhere(valueAt(fields, "velocity", nodes[0] / 2, y, 0)[0]), 6 * s * (1 - s),
                0.02);
  }
  const int from = nodes[0] / 4, to = 3 * nodes[0] / 4;
  const double drop = everywhere(valueAt(fields, "pressure", from, nodes[1] / 2, 0)[0]) -
                      everywhere(valueAt(fields, "pressure", to, nodes[1] / 2, 0)[0]);
  const double length = (to - from) * fields.spacing, height = nodes[1] * fields.spacing;
  const double expected = 12 * length / (settings.reynolds * height * height);
  EXPECT_NEAR(drop / expected, 1, 0.05);
}

/// Schaefer and Turek (1996) give a Strouhal number of 0.295 to 0.305 for this channel at the
/// Reynolds number 100. With 8 nodes per diameter the boundary of the cylinder is a staircase.
TEST(ChannelFlowTest, TheWakeShedsVorticesAtTheStrouhalNumberOfTheLiterature) {
  if (!isAlone()) GTEST_SKIP();
  ChannelSettings settings;
  settings.resolution = 8;
  settings.length = 14;
  settings.layers = 1;
  settings.velocity = 0.1;
  ChannelFlow flow(MPI_COMM_WORLD, settings);
  std::vector<double> crossings;  // of 0 upwards, by the transverse velocity behind the cylinder
  double last = 0, lastTime = 0;
  while (flow.time() < 50) {
    take(flow, 16);
    const double v = everywhere(valueAt(flow.fields(), "velocity", 4 * 8, 2 * 8, 0)[1]);
    if (last < 0 && v >= 0)
      crossings.push_back(lastTime + (flow.time() - lastTime) * last / (last - v));
    last = v;
    lastTime = flow.time();
  }
  ASSERT_GT(crossings.size(), 9u);
  const double strouhal = 4 / (crossings.back() - crossings[crossings.size() - 5]);
  RecordProperty("Strouhal", std::to_string(strouhal));
  EXPECT_NEAR(strouhal, 0.30, 0.02);
  const double before = 4 / (crossings[crossings.size() - 2] - crossings[crossings.size() - 6]);
  EXPECT_NEAR(strouhal, before, 0.003);
}

}  // namespace
