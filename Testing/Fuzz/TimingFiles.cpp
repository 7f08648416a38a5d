// SPDX-License-Identifier: BSD-3-Clause
// Files of measured times, see Tributary/Model/TimingFile.h.
#include <sstream>

#include "Harness.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Model/TimingFile.h"

namespace tributary::fuzz {

namespace {

Bytes bytesOf(const MeasuredTimes& measured) {
  std::ostringstream out;
  writeTimings(out, measured);
  Bytes bytes;
  append(bytes, out.str().data(), out.str().size());
  return bytes;
}

MeasuredTimes timesOf(Span<const std::byte> input) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(input.data()), input.size()));
  return readTimings(in, "input");
}

}  // namespace

void decode(Span<const std::byte> input) {
  const Bytes again = bytesOf(timesOf(input));
  // What was accepted can be written, and is read again.
  try {
    const Bytes second = bytesOf(timesOf({again.data(), again.size()}));
    if (second != again) throw Error(ErrorKind::Internal, "other times after a round trip");
  } catch (const Error& error) {
    throw Error(ErrorKind::Internal, error.what());
  }
}

std::vector<Seed> seeds() {
  MeasuredTimes measured;
  measured.setting.neighbors = 4;
  measured.setting.points = {400, 400, 1};
  measured.setting.subregions = {1, 2};
  measured.setting.threads = 2;
  measured.setting.residualPeriod = 10;
  measured.timingSeconds = 2.5e-8;
  std::vector<Seed> all{{"empty", bytesOf(measured)}};
  for (std::size_t i = 0; i < Operations; ++i)
    measured.times.operations[i] = {1.1e-7 * static_cast<double>(i + 1), 1e300};
  for (const bool flag : {false, true}) {
    measured.times.iterations.emplace_back(IterationKind{true, flag, flag, false}, 3e-5);
    measured.times.interrupted.emplace_back(IterationKind{false, false, false, flag}, 4e-3);
  }
  measured.swapTransfers = {1e-6, 0};
  measured.reportTransfers = {5e-324};
  measured.paces = {0.5, 1.5};
  all.push_back({"all", bytesOf(measured)});
  return all;
}

}  // namespace tributary::fuzz
