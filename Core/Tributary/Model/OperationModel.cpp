// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/OperationModel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Model/Fit.h"
#include "Tributary/Model/KernelDensity.h"

namespace tributary {

namespace {

/// One number, with certainty.
class Constant : public Distribution {
 public:
  explicit Constant(double value) : value_(value) {}
  double density(double x) const override {
    return x == value_ ? std::numeric_limits<double>::infinity() : 0;
  }
  double cumulative(double x) const override { return x >= value_ ? 1 : 0; }
  double quantile(double) const override { return value_; }
  double mean() const override { return value_; }
  double deviation() const override { return 0; }
  double draw(std::uint64_t&) const override { return value_; }

 private:
  double value_;
};

double drawFrom(const Distribution* source, std::uint64_t& random) {
  return source ? std::max(0.0, source->draw(random)) : 0;
}

/// Whether it is done for all layers of a block.
bool growsWithLayers(Operation operation) {
  return operation == Operation::CopySideHalo || operation == Operation::PublishSides ||
         operation == Operation::ComputeResidual;
}

}  // namespace

OperationModel::OperationModel(const MeasuredTimes& measured, std::optional<Family> family)
    : setting_(measured.setting), timingSeconds_(measured.timingSeconds), paces_(measured.paces) {
  check(setting_);
  if (!std::isfinite(timingSeconds_) || timingSeconds_ < 0)
    throw Error("the timing overhead is " + numberText(timingSeconds_) +
                " seconds; give a finite number of at least 0");
  if (setting_.workShare != 1 && setting_.threads > 1)
    throw Error("the times were measured with a work share of " + numberText(setting_.workShare) +
                "; measure with 1, so that blocks are equal");
  const std::size_t threads = blocksOf(setting_, 0).size();
  blockLayers_ = static_cast<double>(layersOf(setting_, 0)) / static_cast<double>(threads);
  if (!paces_.empty() && paces_.size() != computingThreadsOf(setting_))
    throw Error("paces of " + std::to_string(paces_.size()) + " threads given for " +
                std::to_string(computingThreadsOf(setting_)) +
                " computing threads; give one for each, or none");
  for (const double pace : paces_)
    if (!std::isfinite(pace) || pace <= 0)
      throw Error("a thread's pace is " + numberText(pace) +
                  "; give a finite number greater than 0");
  for (std::size_t i = 0; i < Operations; ++i)
    operations_[i] = makeSource(measured.times.operations[i], measured.timingSeconds, family,
                                nameOf(static_cast<Operation>(i)));
  const auto isPositive = [&](Operation operation) {
    return of(operation) && of(operation)->mean() > 0;
  };
  if (!isPositive(Operation::ComputeLayer) && !isPositive(Operation::ComputeInterior))
    throw Error("the times of computing layers are missing or 0; measure more iterations");
  swapTransfer_ = makeSource(measured.swapTransfers, 0, family, "swap transfers");
  reportTransfer_ = makeSource(measured.reportTransfers, 0, family, "report transfers");
}

OperationModel::Source OperationModel::makeSource(const std::vector<double>& samples,
                                                  double timingSeconds,
                                                  std::optional<Family> family,
                                                  const std::string& name) {
  if (samples.empty()) return nullptr;
  std::vector<double> seconds;
  for (const double sample : samples) {
    if (!std::isfinite(sample) || sample < 0)
      throw Error("measured seconds of " + name + " are " + numberText(sample) +
                  "; give finite numbers of at least 0");
    seconds.push_back(std::max(0.0, sample - timingSeconds));
  }
  const auto [least, largest] = std::minmax_element(seconds.begin(), seconds.end());
  if (*least == *largest) return std::make_unique<Constant>(*least);
  if (family) {
    try {
      return std::make_unique<ParametricDistribution>(fit(*family, seconds));
    } catch (const Error&) {
      substituted_.push_back(name);
    }
  }
  return std::make_unique<KernelDensity>(std::move(seconds));
}

double OperationModel::draw(Operation operation, std::int64_t layers, std::uint64_t& random) const {
  const double seconds = drawFrom(of(operation), random);
  return growsWithLayers(operation) ? seconds * static_cast<double>(layers) / blockLayers_
                                    : seconds;
}

double OperationModel::drawSwapTransfer(std::uint64_t& random) const {
  return drawFrom(swapTransfer_.get(), random);
}

double OperationModel::drawReportTransfer(std::uint64_t& random) const {
  return drawFrom(reportTransfer_.get(), random);
}

double OperationModel::paceOf(const HybridSetting& setting, int subregion,
                              std::size_t thread) const {
  const bool isAsMeasured = setting.subregions == setting_.subregions &&
                            setting.threads == setting_.threads &&
                            setting.communicates == setting_.communicates;
  if (paces_.empty() || !isAsMeasured) return 1;
  const std::size_t threads = blocksOf(setting_, subregion).size();
  return paces_[static_cast<std::size_t>(subregion) * threads + thread];
}

}  // namespace tributary
