#include "Tributary/Model/OperationModel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "Tributary/Error.h"
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
    : setting_(measured.setting), clockSeconds_(measured.clockSeconds) {
  check(setting_);
  if (!std::isfinite(clockSeconds_) || clockSeconds_ < 0)
    throw Error("looks at the clock that take no time that could be");
  if (setting_.workShare != 1 && setting_.threads > 1)
    throw Error("times measured with a work share of " + std::to_string(setting_.workShare) +
                "; measure with 1, of blocks that are equal");
  const auto blocks = static_cast<double>(blocksOf(setting_, 0).size());
  blockLayers_ = static_cast<double>(layersOf(setting_, 0)) / blocks;
  for (std::size_t i = 0; i < Operations; ++i)
    operations_[i] = makeSource(measured.times.operations[i], measured.clockSeconds, family,
                                nameOf(static_cast<Operation>(i)));
  const auto isPositive = [&](Operation operation) {
    return of(operation) && of(operation)->mean() > 0;
  };
  if (!isPositive(Operation::ComputeLayer) && !isPositive(Operation::ComputeInterior))
    throw Error("no times of computing layers; measure more iterations, or give positive times");
  swapTransfer_ = makeSource(measured.swapTransfers, 0, family, "swap transfers");
  reportTransfer_ = makeSource(measured.reportTransfers, 0, family, "report transfers");
}

OperationModel::Source OperationModel::makeSource(const std::vector<double>& samples,
                                                  double clockSeconds, std::optional<Family> family,
                                                  const std::string& name) {
  if (samples.empty()) return nullptr;
  std::vector<double> seconds;
  for (const double sample : samples) {
    if (!std::isfinite(sample) || sample < 0)
      throw Error("measured seconds that are negative or not finite: " + name);
    seconds.push_back(std::max(0.0, sample - clockSeconds));
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

}  // namespace tributary
