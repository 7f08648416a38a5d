// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/HybridSetting.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {

namespace {

std::size_t layerAxis(const HybridSetting& setting) {
  return setting.neighbors == 4 || setting.neighbors == 8 ? 1 : 2;
}

}  // namespace

void check(const HybridSetting& setting) {
  const int n = setting.neighbors;
  if (n != 4 && n != 8 && n != 6 && n != 26)
    throw Error("the stencil has " + std::to_string(n) + " neighbors; choose 4, 8, 6 or 26");
  for (const std::int64_t points : setting.points)
    if (points < 1) throw Error(std::to_string(points) + " points along an axis; give at least 1");
  if (layerAxis(setting) == 1 && setting.points[2] != 1)
    throw Error("a two-dimensional stencil needs points in two dimensions; give 1 point along z");
  for (const int count : setting.subregions)
    if (count < 1 || count > 1 << 20)
      throw Error(std::to_string(count) + " subregions along an axis; give at least 1");
  if (static_cast<std::int64_t>(setting.subregions[0]) * setting.subregions[1] > 1 << 20)
    throw Error("more than 2^20 subregions; use fewer");
  if (setting.threads < 1 || setting.threads > 1 << 12)
    throw Error(std::to_string(setting.threads) + " threads; give 1 to 4096");
  if (static_cast<std::int64_t>(subregionsOf(setting)) * setting.threads > 1 << 20)
    throw Error("more than 2^20 threads in total; use fewer");
  const bool dedicated = setting.communicates == CommunicatingThread::Dedicated;
  if (dedicated && setting.threads < 2)
    throw Error(
        "AsynchronousDirect has a dedicated communication thread; give at least two threads");
  if (dedicated && setting.master)
    throw Error("AsynchronousDirect does not support a master; set HybridSetting::master to false");
  if (setting.swapPeriod < 1 || setting.residualPeriod < 1)
    throw Error("the swap period is " + std::to_string(setting.swapPeriod) +
                " and the residual period " + std::to_string(setting.residualPeriod) +
                "; give at least 1");
  if (!(setting.workShare > 0 && setting.workShare <= 1))
    throw Error("the work share is " + numberText(setting.workShare) + ", but must be in (0, 1]");
  const std::int64_t least = setting.points[layerAxis(setting)] / setting.subregions[1];
  if (least < setting.threads - (dedicated ? 1 : 0))
    throw Error("subregions have " + std::to_string(least) + " layers for " +
                std::to_string(setting.threads) +
                " threads; give each computing thread at least one");
}

int subregionsOf(const HybridSetting& setting) {
  return setting.subregions[0] * setting.subregions[1];
}

std::int64_t layersOf(const HybridSetting& setting, int subregion) {
  const std::int64_t layers = setting.points[layerAxis(setting)];
  const std::int64_t rows = setting.subregions[1], row = subregion / setting.subregions[0];
  return layers * (row + 1) / rows - layers * row / rows;
}

std::vector<std::int64_t> sharesOf(std::int64_t layers, std::int64_t threads, double workShare) {
  const std::int64_t blocks = std::min(threads, layers);
  if (blocks < 1) return {0};
  if (blocks == 1) return {layers};
  const double own = workShare * static_cast<double>(layers) / static_cast<double>(blocks);
  const std::int64_t first = std::clamp<std::int64_t>(std::llround(own), 1, layers - (blocks - 1));
  std::vector<std::int64_t> shares{first};
  for (std::int64_t b = 1; b < blocks; ++b)
    shares.push_back((layers - first) * b / (blocks - 1) -
                     (layers - first) * (b - 1) / (blocks - 1));
  return shares;
}

std::vector<std::int64_t> blocksOf(const HybridSetting& setting, int subregion) {
  const bool dedicated = setting.communicates == CommunicatingThread::Dedicated;
  return sharesOf(layersOf(setting, subregion), setting.threads - (dedicated ? 1 : 0),
                  setting.communicates == CommunicatingThread::First ? setting.workShare : 1);
}

std::size_t computingThreadsOf(const HybridSetting& setting) {
  // Each subregion has layers for all of its threads.
  return static_cast<std::size_t>(subregionsOf(setting)) * blocksOf(setting, 0).size();
}

std::string nameOf(CommunicatingThread communicates) {
  switch (communicates) {
    case CommunicatingThread::First:
      return "first";
    case CommunicatingThread::InTurns:
      return "in-turns";
    case CommunicatingThread::MostIterations:
      return "most-iterations";
    case CommunicatingThread::Dedicated:
      return "dedicated";
  }
  throw Error("unknown choice of the communicating thread; use a value of CommunicatingThread");
}

}  // namespace tributary
