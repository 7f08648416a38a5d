// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/extreme_value.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/logistic.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/weibull.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Model/Distribution.h"
#include "Tributary/Model/Fit.h"
#include "Tributary/Model/KernelDensity.h"

namespace tributary {
namespace {

using testing::errorOf;

/// One or several of each family, and the values that samples of it have.
std::vector<ParametricDistribution> examples() {
  return {{Family::Normal, {3, 0.5}},
          {Family::Lognormal, {-2, 0.4}},
          {Family::Weibull, {2e-7, 3}},
          {Family::Weibull, {1, 0.8}},
          {Family::Gamma, {4, 0.25}},
          {Family::Gamma, {0.7, 3}},
          {Family::Loglogistic, {-15, 0.2}},
          {Family::GeneralizedExtremeValue, {3.4e-7, 2e-8, 0.15}},
          {Family::GeneralizedExtremeValue, {1, 2, 0}},
          {Family::GeneralizedExtremeValue, {1, 2, -0.3}}};
}

std::vector<double> drawn(const Distribution& distribution, std::size_t count,
                          std::uint64_t seed = 1) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) samples.push_back(distribution.draw(seed));
  return samples;
}

double integral(const std::function<double(double)>& function, double from, double to) {
  constexpr int Steps = 200000;
  double sum = 0;
  const double width = (to - from) / Steps;
  for (int i = 0; i < Steps; ++i) sum += function(from + (i + 0.5) * width) * width;
  return sum;
}

TEST(Distribution, IsThatOfBoost) {
  namespace other = boost::math;
  const auto expectSame = [](const ParametricDistribution& ours, const auto& theirs) {
    for (const double p : {1e-6, 0.01, 0.3, 0.5, 0.8, 0.999}) {
      const double x = other::quantile(theirs, p);
      EXPECT_NEAR(ours.quantile(p), x, 1e-10 * std::abs(x) + 1e-15) << nameOf(ours.family()) << p;
      EXPECT_NEAR(ours.cumulative(x), p, 1e-10 * p) << nameOf(ours.family());
      EXPECT_NEAR(ours.density(x), other::pdf(theirs, x), 1e-9 * other::pdf(theirs, x))
          << nameOf(ours.family());
    }
    EXPECT_NEAR(ours.mean(), other::mean(theirs), 1e-10 * std::abs(other::mean(theirs)));
    EXPECT_NEAR(ours.deviation(), other::standard_deviation(theirs),
                1e-10 * other::standard_deviation(theirs));
  };
  expectSame({Family::Normal, {3, 0.5}}, other::normal(3, 0.5));
  expectSame({Family::Lognormal, {-2, 0.4}}, other::lognormal(-2, 0.4));
  expectSame({Family::Weibull, {2e-7, 3}}, other::weibull(3, 2e-7));
  expectSame({Family::Gamma, {4, 0.25}}, other::gamma_distribution<>(4, 0.25));
  expectSame({Family::GeneralizedExtremeValue, {1, 2, 0}}, other::extreme_value(1, 2));
  // The logarithm of a log-logistic number is logistic.
  const ParametricDistribution ours(Family::Loglogistic, {-15, 0.2});
  const other::logistic theirs(-15, 0.2);
  for (const double p : {0.01, 0.5, 0.9}) {
    EXPECT_NEAR(std::log(ours.quantile(p)), other::quantile(theirs, p), 1e-10);
    EXPECT_NEAR(ours.cumulative(std::exp(other::quantile(theirs, p))), p, 1e-10);
  }
}

TEST(Distribution, DensitiesMeansAndDeviationsBelongToTheCumulative) {
  for (const ParametricDistribution& distribution : examples()) {
    const double from = distribution.quantile(1e-9), to = distribution.quantile(1 - 1e-9);
    const auto density = [&](double x) { return distribution.density(x); };
    const double middle = distribution.quantile(0.6);
    const std::string name = nameOf(distribution.family());
    EXPECT_NEAR(integral(density, distribution.quantile(0.1), middle), 0.5, 1e-6) << name;
    EXPECT_NEAR(distribution.cumulative(middle), 0.6, 1e-12) << name;
    if (from <= 0 && name == "gamma") continue;  // an integrable pole
    const auto moment = [&](double x) { return x * distribution.density(x); };
    const double mean = integral(moment, from, to);
    EXPECT_NEAR(distribution.mean(), mean, 1e-3 * distribution.deviation()) << name;
    const auto square = [&](double x) { return (x - mean) * (x - mean) * distribution.density(x); };
    EXPECT_NEAR(distribution.deviation(), std::sqrt(integral(square, from, to)),
                1e-2 * distribution.deviation())
        << name;
  }
}

TEST(Distribution, GoesOnWhereAnExtremeValueDistributionBecomesGumbels) {
  const ParametricDistribution gumbel(Family::GeneralizedExtremeValue, {1, 2, 0});
  for (const double shape : {1e-5, 1e-7, 1e-8, 1e-10, -1e-5, -1e-7, -1e-8, -1e-10}) {
    const ParametricDistribution near(Family::GeneralizedExtremeValue, {1, 2, shape});
    const double most = 50 * std::abs(shape) + 1e-7;
    EXPECT_NEAR(near.mean(), gumbel.mean(), most) << shape;
    EXPECT_NEAR(near.deviation(), gumbel.deviation(), most) << shape;
    for (const double p : {0.01, 0.5, 0.99}) {
      EXPECT_NEAR(near.quantile(p), gumbel.quantile(p), most) << shape;
      EXPECT_NEAR(near.cumulative(gumbel.quantile(p)), p, most) << shape;
      EXPECT_NEAR(near.density(gumbel.quantile(p)), gumbel.density(gumbel.quantile(p)), most);
    }
  }
  // Outside of their supports.
  const ParametricDistribution bounded(Family::GeneralizedExtremeValue, {1, 2, -0.5});
  EXPECT_EQ(bounded.cumulative(5.5), 1);
  EXPECT_EQ(bounded.density(5.5), 0);
  const ParametricDistribution heavy(Family::GeneralizedExtremeValue, {1, 2, 0.5});
  EXPECT_EQ(heavy.cumulative(-3.5), 0);
  EXPECT_EQ(heavy.density(-3.5), 0);
  EXPECT_EQ(heavy.deviation(), std::numeric_limits<double>::infinity());
}

TEST(Distribution, RefusesWhatIsNone) {
  EXPECT_NE(errorOf([] { ParametricDistribution(Family::Gamma, {1}); }).find("has 2 parameters"),
            std::string::npos);
  EXPECT_NE(errorOf([] {
              ParametricDistribution(Family::Weibull, {-1, 1});
            }).find("not positive"),
            std::string::npos);
  EXPECT_NE(errorOf([] {
              ParametricDistribution(Family::Normal, {0, std::nan("")});
            }).find("not finite"),
            std::string::npos);
  const ParametricDistribution normal(Family::Normal, {0, 1});
  for (const double p : {0.0, 1.0, -1.0, std::nan("")})
    EXPECT_NE(errorOf([&] { normal.quantile(p); }).find("give one in (0, 1)"), std::string::npos);
}

TEST(Fit, RecoversTheParametersOfWhatWasDrawn) {
  for (const ParametricDistribution& distribution : examples()) {
    const auto samples = drawn(distribution, 40000);
    const ParametricDistribution fitted = fit(distribution.family(), samples);
    const std::string name = nameOf(distribution.family());
    for (std::size_t i = 0; i < fitted.parameters().size(); ++i) {
      const double wanted = distribution.parameters()[i];
      // Locations are known as well as the scale is large, shapes as such.
      const bool isLocation = i == 0 && distribution.family() != Family::Weibull &&
                              distribution.family() != Family::Gamma;
      const double unit = isLocation ? distribution.parameters()[1]
                                     : std::max(std::abs(wanted), i == 2 ? 1.0 : 0.0);
      EXPECT_NEAR(fitted.parameters()[i], wanted, 0.03 * unit) << name << " parameter " << i;
    }
    // And the right family fits best, or as well as one that contains it.
    const ChiSquare own = chiSquare(samples, fitted, fitted.parameters().size());
    EXPECT_GT(own.probability, 1e-4) << name << " " << own.statistic;
  }
}

TEST(Fit, LikelihoodsHaveNoLargerNeighbors) {
  const auto likelihood = [](const ParametricDistribution& d, const std::vector<double>& samples) {
    double sum = 0;
    for (const double sample : samples) sum += std::log(d.density(sample));
    return sum;
  };
  for (const ParametricDistribution& distribution : examples()) {
    if (distribution.family() == Family::GeneralizedExtremeValue) continue;  // by L-moments
    // Of others' samples, too.
    for (const auto& samples : {drawn(distribution, 500, 7),
                                drawn(ParametricDistribution(Family::Weibull, {3, 1.5}), 500)}) {
      const ParametricDistribution best = fit(distribution.family(), samples);
      const double most = likelihood(best, samples);
      for (const double a : {0.99, 1.0, 1.01})
        for (const double b : {0.99, 1.0, 1.01})
          EXPECT_LE(
              likelihood({best.family(), {a * best.parameters()[0], b * best.parameters()[1]}},
                         samples),
              most + 1e-6)
              << nameOf(best.family());
    }
  }
}

TEST(Fit, LMomentsAreThoseOfTheSamples) {
  // Of few samples, by hand: of 1, 2, 4 the L-moments are 7/3, 1 and 1/3 of a third of it.
  const auto fitted = fit(Family::GeneralizedExtremeValue, {4, 1, 2});
  // l1 = mean; l2 = 2 b1 - b0 with b1 = (0 * 1 + 1 / 2 * 2 + 1 * 4) / 3 = 5 / 3, so 1.
  const double median = fitted.quantile(0.5);
  EXPECT_NEAR(fitted.mean(), 7.0 / 3, 1e-9);
  const double l2 = integral([&](double p) { return fitted.quantile(p) * (2 * p - 1); }, 0, 1);
  EXPECT_NEAR(l2, 1, 1e-4);
  EXPECT_GT(fitted.mean(), median);  // skewed to the right
}

TEST(Fit, RefusesWhatNothingFits) {
  const auto refusal = [](Family family, const std::vector<double>& samples) {
    return errorOf([&] { return fit(family, samples); });
  };
  for (const Family family : AllFamilies) {
    EXPECT_NE(refusal(family, {1, 2}).find("give at least 3"), std::string::npos);
    EXPECT_NE(refusal(family, {2, 2, 2, 2}).find("all equal"), std::string::npos);
    EXPECT_NE(refusal(family, {1, 2, std::nan("")}).find("nan"), std::string::npos);
    const bool isSigned = family == Family::Normal || family == Family::GeneralizedExtremeValue;
    EXPECT_EQ(refusal(family, {-1, 2, 3, 4}).find("positive") == std::string::npos, isSigned);
  }
}

TEST(Fit, InterpolatesBetweenDistributions) {
  const ParametricDistribution five(Family::GeneralizedExtremeValue, {3e-7, 2e-8, 0.1});
  const ParametricDistribution nine(Family::GeneralizedExtremeValue, {5e-7, 4e-8, -0.1});
  const auto expectNear = [](const ParametricDistribution& found, std::vector<double> wanted,
                             double part) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(found.parameters()[i], wanted[i], part * (i == 2 ? 1 : wanted[i])) << i;
  };
  expectNear(interpolate(five, 5, nine, 9, 7), {4e-7, 3e-8, 0}, 1e-12);
  expectNear(interpolate(five, 5, nine, 9, 5), {3e-7, 2e-8, 0.1}, 1e-12);
  expectNear(interpolate(nine, 9, five, 5, 6), {3.5e-7, 2.5e-8, 0.05}, 1e-12);
  // Of samples, as section 7.2 does: what was fitted lies between as what was drawn from does.
  const auto of = [](const ParametricDistribution& drawnFrom) {
    return fit(Family::GeneralizedExtremeValue, drawn(drawnFrom, 40000));
  };
  expectNear(interpolate(of(five), 5, of(nine), 9, 7), {4e-7, 3e-8, 0}, 0.02);
  EXPECT_NE(errorOf([&] { return interpolate(five, 5, nine, 5, 7); }).find("at the same position"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { return interpolate(five, 5, nine, 9, 0); }).find("not positive"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              return interpolate(five, 5, ParametricDistribution(Family::Normal, {1, 1}), 9, 7);
            }).find("of the same family"),
            std::string::npos);
}

TEST(ChiSquare, IsPearsons) {
  // Of 100 numbers 10 in each tenth but for two, where there are 15 and 5: 25 / 10 + 25 / 10.
  std::vector<double> samples = {0, 1};
  for (int bin = 0; bin < 10; ++bin) {
    const int count = (bin == 3 ? 15 : bin == 6 ? 5 : 10) - (bin == 0 || bin == 9);
    for (int i = 0; i < count; ++i) samples.push_back(0.1 * bin + 0.05);
  }
  class Uniform : public Distribution {
   public:
    double density(double) const override { return 1; }
    double cumulative(double x) const override { return x; }
    double quantile(double p) const override { return p; }
    double mean() const override { return 0.5; }
    double deviation() const override { return 1 / std::sqrt(12.0); }
  };
  const ChiSquare found = chiSquare(samples, Uniform(), 0);
  EXPECT_NEAR(found.statistic, 5, 1e-9);
  EXPECT_EQ(found.bins, 10u);
  EXPECT_EQ(found.degreesOfFreedom, 9);
  EXPECT_NEAR(found.probability, 0.8343, 1e-4);  // from a table
  // Bins that expect fewer than five become part of others: 20 of 40 numbers, in bins of half one.
  const ChiSquare few = chiSquare({0, 0.1, 0.4, 0.6, 0.7, 1}, Uniform(), 0, 40);
  EXPECT_EQ(few.bins, 1u);
  EXPECT_NEAR(few.statistic, 0, 1e-9);
}

TEST(ChiSquare, TellsFamiliesApart) {
  // Heavy tails to the right, as times have them.
  const auto samples =
      drawn(ParametricDistribution(Family::GeneralizedExtremeValue, {1e-6, 1e-7, 0.2}), 5000);
  double best = std::numeric_limits<double>::infinity();
  Family which = Family::Normal;
  for (const Family family : AllFamilies) {
    const double statistic =
        chiSquare(samples, fit(family, samples), parametersOf(family)).statistic;
    if (statistic < best) {
      best = statistic;
      which = family;
    }
  }
  EXPECT_EQ(which, Family::GeneralizedExtremeValue);
}

TEST(KernelDensity, FollowsSeveralPeaks) {
  std::vector<double> samples;
  for (const double sample : drawn(ParametricDistribution(Family::Normal, {1, 0.05}), 3000))
    samples.push_back(sample);
  for (const double sample : drawn(ParametricDistribution(Family::Normal, {3, 0.05}), 1000))
    samples.push_back(sample);
  const KernelDensity kernel(samples, 0, 0.05);
  EXPECT_NEAR(kernel.cumulative(2), 0.75, 1e-6);
  EXPECT_GT(kernel.density(1), 3 * kernel.density(1.3));
  EXPECT_GT(kernel.density(3), 10 * kernel.density(2));
  EXPECT_NEAR(integral([&](double x) { return kernel.density(x); }, 0, 2), 0.75, 1e-4);
  EXPECT_NEAR(kernel.quantile(0.75 / 2), 1, 0.01);
  EXPECT_NEAR(kernel.cumulative(kernel.quantile(0.9)), 0.9, 1e-6);
  std::uint64_t random = 5;
  double sum = 0, high = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = kernel.draw(random);
    sum += x / 20000;
    high += x > 2;
  }
  EXPECT_NEAR(sum, kernel.mean(), 0.03);
  EXPECT_NEAR(high / 20000, 0.25, 0.02);
}

TEST(KernelDensity, ReflectsWhatIsImpossible) {
  const KernelDensity kernel({0.1, 0.2, 0.3, 1}, 0, 0.4);
  EXPECT_EQ(kernel.density(-0.1), 0);
  EXPECT_EQ(kernel.cumulative(-0.1), 0);
  const auto density = [&](double x) { return kernel.density(x); };
  EXPECT_NEAR(integral(density, 0, 6), 1, 1e-6);
  EXPECT_NEAR(integral(density, 0, 0.5), kernel.cumulative(0.5), 1e-6);
  const double mean = integral([&](double x) { return x * kernel.density(x); }, 0, 6);
  EXPECT_NEAR(kernel.mean(), mean, 1e-6);
  const double square =
      integral([&](double x) { return (x - mean) * (x - mean) * kernel.density(x); }, 0, 6);
  EXPECT_NEAR(kernel.deviation(), std::sqrt(square), 1e-6);
  std::uint64_t random = 1;
  for (int i = 0; i < 1000; ++i) EXPECT_GE(kernel.draw(random), 0);
}

TEST(KernelDensity, OfAnythingElseIsRefused) {
  EXPECT_NE(errorOf([] { KernelDensity({}); }).find("give at least one"), std::string::npos);
  EXPECT_NE(errorOf([] { KernelDensity({1, -1}); }).find("at least 0"), std::string::npos);
  EXPECT_NE(errorOf([] {
              KernelDensity({1, 2}, 0, -1);
            }).find("give a positive one, or 0"),
            std::string::npos);
  // All equal: as good as a number.
  const KernelDensity one({2, 2, 2});
  EXPECT_NEAR(one.mean(), 2, 1e-9);
  EXPECT_LT(one.deviation(), 1e-5);
  const KernelDensity free({-1, 1}, -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(free.mean(), 0, 1e-12);
  EXPECT_NEAR(free.cumulative(0), 0.5, 1e-12);
  EXPECT_NEAR(free.deviation(), std::hypot(1, free.bandwidth()), 1e-9);
}

}  // namespace
}  // namespace tributary
