// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "Support/World.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Iteration/Iteration.h"

namespace tributary::testing {

/// Where no number is larger than all.
inline double larger(double a, double b) {
  return a >= b || std::isnan(a) ? a : b;
}

/// A sparse diagonally dominant system A x = b, the same on all ranks, cut into pieces of rows.
struct LinearSystem {
  struct Entry {
    std::size_t column;
    double value;
  };
  std::vector<std::vector<Entry>> rows;  // without the diagonal
  std::vector<double> diagonal;
  std::vector<double> b;

  std::size_t size() const { return b.size(); }

  /// b - A x, row by row.
  std::vector<double> residual(const std::vector<double>& x) const {
    std::vector<double> r(size());
    for (std::size_t i = 0; i < size(); ++i) {
      double sum = b[i];
      for (const Entry& entry : rows[i]) sum -= entry.value * x[entry.column];
      r[i] = sum - diagonal[i] * x[i];
    }
    return r;
  }
  /// Its norm, computed without any of the code under test.
  double norm(const std::vector<double>& x, Norm norm) const {
    double result = 0;
    long double squares = 0;
    for (const double value : residual(x)) {
      result = larger(result, std::abs(value));
      squares += static_cast<long double>(value) * static_cast<long double>(value);
    }
    return norm == Norm::Max ? result : static_cast<double>(std::sqrt(squares));
  }
};

/// The five-point Laplacian on a grid, plus `shift` on the diagonal.
inline LinearSystem laplace(std::size_t width, std::size_t height, double shift) {
  LinearSystem system;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      std::vector<LinearSystem::Entry> row;
      const std::size_t i = y * width + x;
      if (y > 0) row.push_back({i - width, -1});
      if (x > 0) row.push_back({i - 1, -1});
      if (x + 1 < width) row.push_back({i + 1, -1});
      if (y + 1 < height) row.push_back({i + width, -1});
      system.rows.push_back(row);
      system.diagonal.push_back(4 + shift);
      system.b.push_back(static_cast<double>(mix(i) % 1000) / 500 - 1);
    }
  }
  return system;
}

/// Random entries, a row's sum of magnitudes `dominance` times the diagonal at most.
inline LinearSystem randomSystem(std::uint64_t seed, std::size_t size, double dominance) {
  LinearSystem system;
  const auto unit = [&] { return static_cast<double>(mix(seed++) >> 11) * 0x1p-53; };
  for (std::size_t i = 0; i < size; ++i) {
    std::set<std::size_t> columns;
    for (int k = 0; k < 4; ++k) columns.insert(mix(seed++) % size);
    columns.erase(i);
    std::vector<LinearSystem::Entry> row;
    double sum = 0;
    for (const std::size_t column : columns) {
      row.push_back({column, 2 * unit() - 1});
      sum += std::abs(row.back().value);
    }
    system.rows.push_back(row);
    system.diagonal.push_back(sum / dominance + 0.1);
    system.b.push_back(2 * unit() - 1);
  }
  return system;
}

/// One rank's rows [begin, end) of a system, as an iteration's problem: Jacobi, or Gauss-Seidel
/// within the rank.
class SystemPart {
 public:
  SystemPart(const LinearSystem& system, int rank, int ranks, bool gaussSeidel = false)
      : system_(system), gaussSeidel_(gaussSeidel) {
    begin_ = firstRow(rank, ranks);
    end_ = firstRow(rank + 1, ranks);
    x.assign(end_ - begin_, 0.0);
    // What a rank needs of another, in ascending order, is what that one sends.
    std::map<int, std::set<std::size_t>> needed;
    std::map<int, std::set<std::size_t>> wanted;
    for (std::size_t i = 0; i < system.size(); ++i) {
      for (const auto& entry : system.rows[i]) {
        const int from = ownerOf(entry.column, ranks);
        const int to = ownerOf(i, ranks);
        if (from == to) continue;
        if (to == rank) needed[from].insert(entry.column);
        if (from == rank) wanted[to].insert(entry.column);
      }
    }
    for (int other = 0; other < ranks; ++other) {
      if (!needed.count(other) && !wanted.count(other)) continue;
      std::size_t index = 0;
      for (const std::size_t column : needed[other]) {
        halo_.insert({column, Place{neighbors.size(), index++}});
      }
      outgoing_.emplace_back(wanted[other].begin(), wanted[other].end());
      neighbors.push_back({other, wanted[other].size(), needed[other].size()});
    }
  }

  IterationProblem problem(Norm norm = Norm::Max) {
    IterationProblem problem;
    problem.neighbors = neighbors;
    problem.iterate = x;
    problem.sweep = [this, norm](const Incoming& incoming, bool measure) {
      return sweep(incoming, measure, norm);
    };
    problem.fill = [this](std::size_t neighbor, Span<double> values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = x[outgoing_[neighbor][i] - begin_];
      }
    };
    problem.residual = [this, norm](Span<const double> recorded, const Incoming& incoming) {
      double sum = 0;
      for (std::size_t i = begin_; i < end_; ++i) {
        add(sum, row(i, recorded, incoming) - system_.diagonal[i] * recorded[i - begin_], norm);
      }
      return sum;
    };
    return problem;
  }

  std::vector<double> x;
  std::vector<Neighbor> neighbors;

 private:
  std::size_t firstRow(int rank, int ranks) const {
    return system_.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
  }
  int ownerOf(std::size_t row, int ranks) const {
    int rank = 0;
    while (firstRow(rank + 1, ranks) <= row) ++rank;
    return rank;
  }
  static void add(double& sum, double value, Norm norm) {
    sum = norm == Norm::Two ? sum + value * value : larger(sum, std::abs(value));
  }
  /// b less the other entries' part, in the order of LinearSystem::residual().
  double row(std::size_t i, Span<const double> mine, const Incoming& incoming) const {
    double sum = system_.b[i];
    for (const auto& entry : system_.rows[i]) {
      if (entry.column >= begin_ && entry.column < end_) {
        sum -= entry.value * mine[entry.column - begin_];
      } else {
        const auto& place = halo_.at(entry.column);
        sum -= entry.value * incoming[place.neighbor][place.index];
      }
    }
    return sum;
  }
  double sweep(const Incoming& incoming, bool measure, Norm norm) {
    before_ = x;
    double sum = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      x[i - begin_] = row(i, gaussSeidel_ ? x : before_, incoming) / system_.diagonal[i];
      if (measure) {
        add(sum, system_.diagonal[i] * (x[i - begin_] - before_[i - begin_]), norm);
      }
    }
    return sum;
  }

  struct Place {
    std::size_t neighbor;
    std::size_t index;
  };
  const LinearSystem& system_;
  bool gaussSeidel_;
  std::size_t begin_;
  std::size_t end_;
  std::map<std::size_t, Place> halo_;  // by column
  std::vector<std::vector<std::size_t>> outgoing_;
  std::vector<double> before_;
};

/// The parts of all ranks, in one.
inline std::vector<double> gather(Transport& transport, const std::vector<double>& part) {
  return allgatherv(transport, part);
}

}  // namespace tributary::testing
