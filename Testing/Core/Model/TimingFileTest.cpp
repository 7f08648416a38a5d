// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/TimingFile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "Support/World.h"
#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::world;

MeasuredTimes somethingMeasured() {
  HybridSetting setting;
  setting.neighbors = 26;
  setting.points = {40, 30, 20};
  setting.subregions = {2, 2};
  setting.master = true;
  setting.threads = 3;
  setting.communicates = CommunicatingThread::MostIterations;
  setting.workShare = 0.3;
  setting.swapPeriod = 7;
  setting.residualPeriod = 11;
  MeasuredTimes measured;
  measured.setting = setting;
  measured.timingSeconds = 1.0 / 3e7;
  measured.times.operations[4] = {1e-7, 1.0 / 3, 0, 5e-324, 1e300};
  measured.times.operations[13] = {2e-6};
  measured.times.iterations = {{{true, true, true, true}, 0.1},
                               {{false, false, false, false}, 2e-5},
                               {{true, true, true, true}, 0.2}};
  measured.times.interrupted = {{{true, true, true, true}, 0.3}};
  measured.swapTransfers = {1e-6};
  measured.paces = {0.75, 1.25, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return measured;
}

std::string written(const MeasuredTimes& measured) {
  std::ostringstream out;
  writeTimings(out, measured);
  return out.str();
}

MeasuredTimes readFrom(const std::string& text) {
  std::istringstream in(text);
  return readTimings(in, "file");
}

TEST(TimingFile, GivesBackWhatWasWritten) {
  const MeasuredTimes measured = somethingMeasured();
  const MeasuredTimes read = readFrom(written(measured));
  EXPECT_EQ(written(read), written(measured));
  EXPECT_EQ(read.times.operations, measured.times.operations);
  EXPECT_EQ(read.swapTransfers, measured.swapTransfers);
  EXPECT_EQ(read.reportTransfers, measured.reportTransfers);
  EXPECT_EQ(read.paces, measured.paces);
  EXPECT_EQ(read.timingSeconds, measured.timingSeconds);
  EXPECT_EQ(read.setting.points, measured.setting.points);
  EXPECT_EQ(read.setting.workShare, measured.setting.workShare);
  EXPECT_EQ(read.setting.communicates, measured.setting.communicates);
  ASSERT_EQ(read.times.iterations.size(), 3u);
  EXPECT_EQ(read.times.iterations[0], measured.times.iterations[0]);
  EXPECT_EQ(read.times.iterations[1], measured.times.iterations[2]);
  EXPECT_EQ(read.times.interrupted, measured.times.interrupted);

  const std::string path =
      ::testing::TempDir() + "timings" + std::to_string(world().rank()) + ".txt";
  saveTimings(path, measured);
  EXPECT_EQ(written(loadTimings(path)), written(measured));
  EXPECT_NE(errorOf([&] { saveTimings(path + "/none", measured); }).find("cannot write"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { return loadTimings(path + ".none"); }).find("cannot read"),
            std::string::npos);
}

TEST(TimingFile, NamesTheLineOfWhatIsWrong) {
  const std::string good = written(somethingMeasured());
  const auto expect = [&](const std::string& from, const std::string& to, int line,
                          const std::string& what) {
    std::string text = good;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const std::string error = errorOf([&] { readFrom(text); });
    EXPECT_NE(error.find(what), std::string::npos) << from << ": " << error;
    const std::string place = line > 0 ? "file, line " + std::to_string(line) + ":" : "file:";
    EXPECT_EQ(error.find(place), 0u) << from << ": " << error;
  };
  expect("tributary-timings 3", "tributary-timings 2", 1,
         "begins with \"tributary-timings 3\", not");
  expect("neighbors 26", "neighbours 26", 2, "expected \"neighbors\"");
  expect("neighbors 26", "neighbors 26 2", 2, "expected 1 value after");
  expect("neighbors 26", "neighbors", 2, "expected 1 value after");
  expect("neighbors 26", "neighbors 26.5", 2, "is not an integer");
  expect("neighbors 26", "neighbors 27", 10, "choose 4, 8, 6 or 26");
  expect("points 40 30 20", "points 40 30", 3, "expected 3 values after");
  expect("points 40 30 20", "points 40 99999999999999999999 20", 3, "is not an integer");
  expect("points 40 30 20", "points 40 0 20", 10, "0 points");
  expect("subregions 2 2", "subregions 2 -2", 4, "is not in [0, 2^30]");
  expect("subregions 2 2", "subregions 2 200", 10, "layers for 3 threads");
  expect("threads 3", "threads 99999999999", 5, "is not in [0, 2^30]");
  expect("most-iterations", "least-iterations", 6, "unknown choice of the communicating thread");
  expect("traffic master", "traffic other", 7, "expected traffic");
  expect("work-share 0.3", "work-share nan", 10, "work share");
  expect("work-share 0.3", "work-share 0,3", 8, "is not a number");
  expect("swap-period 7", "swap-period 0", 10, "swap period");
  expect("timing-seconds 3", "timing-seconds -3", 11, "not negative");
  expect("operation ComputeInterior 5", "operation ComputeOutside 5", 12, "unknown operation");
  expect("operation ComputeInterior 5", "operation ComputeInterior five", 12, "is not an integer");
  expect("operation ComputeInterior 5", "operation ComputeInterior 0", 12,
         "needs at least one sample");
  expect("operation ComputeInterior 5", "operation ComputeInterior -5", 12,
         "needs at least one sample");
  expect("operation ComputeInterior 5", "operation ComputeInterior", 12, "a name and a number");
  expect("operation ComputeInterior 5", "operation ComputeInterior 5 5", 12, "a name and a number");
  expect("operation ComputeInterior 5", "operation ComputeInterior 6", 18, "is not a number");
  expect("operation ComputeInterior 5", "operation ComputeInterior 4", 17, "a name and a number");
  expect("operation ComputeInterior 5", "operatio ComputeInterior 5", 12, "expected \"operation\"");
  expect("1e-07", "-1e-07", 13, "not negative");
  expect("1e-07", "inf", 13, "finite");
  expect("1e-07", "nan", 13, "finite");
  expect("1e-07", "1e-07 2", 13, "is not a number");
  expect("1e-07", "1e999", 13, "is not a number");
  expect("1e-07", "", 13, "is not a number");
  expect("operation MasterHalo", "operation ComputeInterior", 18, "is a duplicate");
  expect("iterations C_USRr 2", "iterations C_UX 2", 20, "unknown kind of iterations");
  expect("iterations N_U 1", "iterations C_USRr 1", 23, "is a duplicate");
  expect("iterations N_U 1", "iterations N_U 1000000000000", 25, "is not a number");
  expect("interrupted C_USRr 1", "iterations C_USRr 1", 25, "is a duplicate");
  expect("interrupted C_USRr 1", "interrupted C_USRr 0", 25, "needs at least one sample");
  expect("interrupted C_USRr 1", "interrupted C_UX 1", 25, "unknown kind of iterations");
  expect("swap-transfers 1", "swap-transfers -1", 27, "must not be negative");
  expect("swap-transfers 1", "swap-transfers 1 1", 27, "one number");
  expect("report-transfers 0", "report-transfers x", 29, "is not an integer");
  expect("paces 12", "paces twelve", 30, "is not an integer");
  expect("0.75", "-0.75", 31, "not negative");
  expect("0.75", "0", 42, "must be greater than 0");
  expect("paces 12\n0.75", "paces 11", 41, "11 paces given for 12 computing threads");
  expect("paces 12", "paces 11", 41, "11 paces");
  expect("end", "ende", 43, "expected \"end\"");
  expect("end\n", "end\nmore\n", 0, "unexpected content after \"end\"");
  EXPECT_NE(errorOf([] { readFrom(""); }).find("line 1: the file ends"), std::string::npos);
}

TEST(TimingFile, CutOrChangedAnywhereGivesAnErrorOrAnotherFile) {
  const std::string good = written(somethingMeasured());
  for (std::size_t length = 0; length + 1 < good.size(); ++length)
    EXPECT_NE(errorOf([&] { readFrom(good.substr(0, length)); }), "") << length;
  // Of every byte, changed: either it is noticed, or what is read is as valid as any.
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const char byte : {'\0', '\n', ' ', '-', '9', 'e', '\xff'}) {
      std::string text = good;
      text[at] = byte;
      MeasuredTimes read;
      if (!errorOf([&] { read = readFrom(text); }).empty()) continue;
      EXPECT_EQ(errorOf([&] { readFrom(written(read)); }), "") << at;
      EXPECT_EQ(errorOf([&] { check(read.setting); }), "") << at;
      for (const auto& samples : read.times.operations)
        for (const double sample : samples) EXPECT_TRUE(std::isfinite(sample) && sample >= 0);
      for (const double pace : read.paces) EXPECT_TRUE(std::isfinite(pace) && pace > 0);
    }
}

}  // namespace
}  // namespace tributary
