// SPDX-License-Identifier: BSD-3-Clause
#include "ChannelFlow.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "Row.h"

namespace {

using lattice::Directions;

/// The product of both relaxation times, each less 1/2. With larger ones, and with equal times, the
/// flow was unstable at low viscosities.
constexpr double MagicParameter = 0.005;

/// Components of the moments at a node, and of the gradients.
enum Moment { VelocityX, VelocityY, VelocityZ, Pressure, Moments };
enum Gradient { VorticityX, VorticityY, VorticityZ, SecondInvariant, Gradients };

std::array<int, 3> nodesOf(const ChannelSettings& settings) {
  if (!(settings.reynolds > 0) || !(settings.velocity > 0) || settings.velocity > 0.2 ||
      settings.resolution < 1 || settings.layers < 1)
    throw std::invalid_argument(
        "the Reynolds number, the resolution and the number of layers must be positive, and the "
        "velocity in (0, 0.2]");
  const auto nodes = [&](double length) {
    return static_cast<int>(std::lround(length * settings.resolution));
  };
  return {nodes(settings.length), nodes(settings.height), settings.layers};
}

std::vector<int> range(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int c = 0; c < count; ++c) all[static_cast<std::size_t>(c)] = c;
  return all;
}

/// Directions that lead along an axis.
std::vector<int> directionsAlong(int axis, int direction) {
  std::vector<int> found;
  for (unsigned q = 0; q < Directions; ++q)
    if (lattice::Velocity[q][static_cast<unsigned>(axis)] == direction)
      found.push_back(static_cast<int>(q));
  return found;
}

}  // namespace

ChannelFlow::ChannelFlow(MPI_Comm communicator, const ChannelSettings& settings)
    : settings_(settings), decomposition_(communicator, nodesOf(settings)) {
  const double viscosity = settings.velocity * settings.resolution / settings.reynolds;
  evenRate_ = 1 / (3 * viscosity + 0.5);
  oddRate_ = 1 / (MagicParameter / (3 * viscosity) + 0.5);
  classify();
  begin();
}

/// What is at a node, or beyond the sides.
ChannelFlow::Medium ChannelFlow::mediumAt(int x, int y) const {
  const auto& nodes = decomposition_.nodes();
  if (y < 0 || y >= nodes[1]) return Medium::Wall;
  if (x < 0) return Medium::Inflow;
  if (x >= nodes[0]) return Medium::Outflow;
  const double scale = settings_.resolution;
  const double dx = x + 0.5 - scale * settings_.center[0];
  const double dy = y + 0.5 - scale * settings_.center[1];
  return settings_.hasCylinder && dx * dx + dy * dy <= 0.25 * scale * scale ? Medium::Wall
                                                                            : Medium::Fluid;
}

/// The velocity of the inflow, a parabola, in nodes per step.
/// @param y  in nodes
double ChannelFlow::inflow(double y) const {
  const double s = (y + 0.5) / decomposition_.nodes()[1];
  return settings_.velocity * 6 * s * (1 - s);
}

void ChannelFlow::classify() {
  const auto& first = decomposition_.first();
  const auto& count = decomposition_.count();
  kinds_.assign(decomposition_.at(-1, -1, 1), Kind::Interior);
  for (int j = 0; j < count[1]; ++j) {
    for (int i = 0; i < count[0]; ++i) {
      Kind& kind = kinds_[decomposition_.at(i, j, 0)];
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (mediumAt(first[0] + i + dx, first[1] + j + dy) != Medium::Fluid)
            kind = Kind::Boundary;
      if (mediumAt(first[0] + i, first[1] + j) != Medium::Fluid) kind = Kind::Solid;
    }
  }
}

/// The inflow, and a vortex behind the cylinder, without which the wake would take long to become
/// unstable.
std::array<double, 3> ChannelFlow::initialVelocity(int x, int y) const {
  const double dx = (x + 0.5) / settings_.resolution - settings_.center[0] - 2;
  const double dy = (y + 0.5) / settings_.resolution - settings_.center[1];
  const double disturbance = settings_.hasCylinder ? 0.5 * std::exp(-dx * dx - dy * dy) : 0;
  return {inflow(y), settings_.velocity * disturbance, 0};
}

void ChannelFlow::begin() {
  const auto& first = decomposition_.first();
  const auto& count = decomposition_.count();
  populations_.assign(decomposition_.size() * Directions, 0);
  next_ = populations_;
  for (int k = 0; k < count[2]; ++k) {
    for (int j = 0; j < count[1]; ++j) {
      for (int i = 0; i < count[0]; ++i) {
        const auto [x, y, z] = initialVelocity(first[0] + i, first[1] + j);
        for (unsigned q = 0; q < Directions; ++q)
          populations_[static_cast<std::size_t>(place(q, {i, j, k}))] =
              lattice::equilibrium(q, 1, x, y, z);
      }
    }
  }
}

void ChannelFlow::setState(std::int64_t steps, std::vector<double> populations) {
  if (populations.size() != populations_.size())
    throw std::invalid_argument("the state is that of another grid");
  steps_ = steps;
  populations_ = std::move(populations);
}

void ChannelFlow::step() {
  decomposition_.exchange(populations_, directionsAlong);
  const auto& count = decomposition_.count();
  Row row(count[0]);
  for (int k = 0; k < count[2]; ++k) {
    for (int j = 0; j < count[1]; ++j) {
      for (unsigned q = 0; q < Directions; ++q) {
        const auto& c = lattice::Velocity[q];
        const int from = (k - c[2] + count[2]) % count[2];
        const auto source = populations_.begin() + place(q, {-c[0], j - c[1], from});
        std::copy_n(source, count[0], row.populations[q].begin());
      }
      for (int i = 0; i < count[0]; ++i)
        if (kinds_[decomposition_.at(i, j, 0)] != Kind::Interior)
          for (unsigned q = 0; q < Directions; ++q)
            row.populations[q][static_cast<std::size_t>(i)] = arriving(q, {i, j, k});
      row.relax(evenRate_, oddRate_);
      for (unsigned q = 0; q < Directions; ++q)
        std::copy(row.populations[q].begin(), row.populations[q].end(),
                  next_.begin() + place(q, {0, j, k}));
    }
  }
  populations_.swap(next_);
  ++steps_;
}

/// The place of a population in memory.
std::ptrdiff_t ChannelFlow::place(unsigned q, const Node& node) const {
  return static_cast<std::ptrdiff_t>(q * decomposition_.size() +
                                     decomposition_.at(node[0], node[1], node[2]));
}

/// The population that arrives at a node beside a boundary: from its neighbor, or reflected. Nodes
/// in the cylinder keep theirs.
double ChannelFlow::arriving(unsigned q, const Node& node) const {
  const auto& c = lattice::Velocity[q];
  const auto& first = decomposition_.first();
  const int layers = decomposition_.count()[2];
  const int x = first[0] + node[0], y = first[1] + node[1];
  const auto population = [&](unsigned p, const Node& from) {
    return populations_[static_cast<std::size_t>(place(p, from))];
  };
  if (mediumAt(x, y) == Medium::Wall) return population(q, node);
  const double reflected = population(lattice::opposite(q), node);
  switch (mediumAt(x - c[0], y - c[1])) {
    case Medium::Wall:
      return reflected;
    case Medium::Inflow:
      return reflected + 2 * lattice::oddEquilibrium(q, 1, inflow(y - 0.5 * c[1]), 0, 0);
    case Medium::Outflow: {  // the pressure is 0
      Row row(1);
      for (unsigned p = 0; p < Directions; ++p) row.populations[p][0] = population(p, node);
      row.sum();
      const auto& [u, v, w] = row.velocity;
      return 2 * lattice::evenEquilibrium(q, 1, u[0], v[0], w[0]) - reflected;
    }
    case Medium::Fluid:
      break;
  }
  return population(q, {node[0] - c[0], node[1] - c[1], (node[2] - c[2] + layers) % layers});
}

/// Velocity and pressure at the nodes of this rank and of its neighbors, by component.
std::vector<double> ChannelFlow::moments() const {
  const auto& count = decomposition_.count();
  const auto stride = decomposition_.size();
  std::vector<double> values(Moments * stride, 0);
  Row row(count[0]);
  for (int k = 0; k < count[2]; ++k) {
    for (int j = 0; j < count[1]; ++j) {
      for (unsigned q = 0; q < Directions; ++q)
        std::copy_n(populations_.begin() + place(q, {0, j, k}), count[0],
                    row.populations[q].begin());
      row.sum();
      for (int i = 0; i < count[0]; ++i) {
        if (kinds_[decomposition_.at(i, j, 0)] == Kind::Solid) continue;
        const auto n = static_cast<std::size_t>(i);
        double* node = values.data() + decomposition_.at(i, j, k);
        for (unsigned axis = 0; axis < 3; ++axis)
          node[axis * stride] = row.velocity[axis][n] / settings_.velocity;
        node[Pressure * stride] =
            (row.density[n] - 1) / 3 / (settings_.velocity * settings_.velocity);
      }
    }
  }
  decomposition_.exchange(values, [](int, int) { return range(Moments); });
  return values;
}

void ChannelFlow::refuseUnstable(const std::vector<double>& moments) const {
  const double soundSpeed = 1 / std::sqrt(3.0) / settings_.velocity;
  const auto end = moments.begin() + static_cast<std::ptrdiff_t>(Pressure * decomposition_.size());
  int isStable =
      std::all_of(moments.begin(), end, [&](double u) { return std::abs(u) < soundSpeed; });
  MPI_Allreduce(MPI_IN_PLACE, &isStable, 1, MPI_INT, MPI_MIN, decomposition_.communicator());
  if (!isStable)
    throw std::runtime_error(
        "the flow has become unstable; use a higher resolution, a higher velocity or a lower "
        "Reynolds number");
}

/// The derivative of a component along an axis, one-sided at the sides of the channel.
double ChannelFlow::slope(const std::vector<double>& moments, int component, const Node& node,
                          int axis) const {
  const auto a = static_cast<unsigned>(axis);
  Node ends[2] = {node, node};
  int width = 0;
  for (const int side : {0, 1}) {
    int& moved = ends[side][a];
    moved += 2 * side - 1;
    const int global = decomposition_.first()[a] + moved, nodes = decomposition_.nodes()[a];
    if (axis == 2)
      moved = (moved + nodes) % nodes;
    else if (global < 0 || global >= nodes) {
      moved = node[a];
      continue;
    }
    ++width;
  }
  const double* values = moments.data() + static_cast<unsigned>(component) * decomposition_.size();
  const auto valueAt = [&](const Node& n) { return values[decomposition_.at(n[0], n[1], n[2])]; };
  return (valueAt(ends[1]) - valueAt(ends[0])) * settings_.resolution / width;
}

/// Vorticity and Q at the nodes of this rank and of its neighbors, by component.
std::vector<double> ChannelFlow::gradients(const std::vector<double>& moments) const {
  const auto& count = decomposition_.count();
  const auto stride = decomposition_.size();
  std::vector<double> values(Gradients * stride, 0);
  for (int k = 0; k < count[2]; ++k) {
    for (int j = 0; j < count[1]; ++j) {
      for (int i = 0; i < count[0]; ++i) {
        if (kinds_[decomposition_.at(i, j, 0)] == Kind::Solid) continue;
        const auto place = decomposition_.at(i, j, k);
        double g[3][3];  // of component, along axis
        for (int component = 0; component < 3; ++component)
          for (int axis = 0; axis < 3; ++axis)
            g[component][axis] = slope(moments, component, {i, j, k}, axis);
        values[VorticityX * stride + place] = g[2][1] - g[1][2];
        values[VorticityY * stride + place] = g[0][2] - g[2][0];
        values[VorticityZ * stride + place] = g[1][0] - g[0][1];
        double trace = 0;  // of the square
        for (unsigned a = 0; a < 3; ++a)
          for (unsigned b = 0; b < 3; ++b) trace += g[a][b] * g[b][a];
        values[SecondInvariant * stride + place] = -0.5 * trace;
      }
    }
  }
  decomposition_.exchange(values, [](int, int) { return range(Gradients); });
  return values;
}

FlowFields ChannelFlow::fields() const {
  const auto& nodes = decomposition_.nodes();
  const auto& first = decomposition_.first();
  FlowFields result;
  std::array<int, 3> count{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const int end = first[axis] + decomposition_.count()[axis];
    count[axis] = std::min(end, nodes[axis] - 1) - first[axis] + 1;
    result.wholeExtent[2 * axis + 1] = nodes[axis] - 1;
    result.extent[2 * axis] = first[axis];
    result.extent[2 * axis + 1] = first[axis] + count[axis] - 1;
  }
  result.spacing = 1.0 / settings_.resolution;
  result.origin = {0.5 * result.spacing, 0.5 * result.spacing, 0};

  const std::vector<double> flow = moments();
  refuseUnstable(flow);
  const std::vector<double> derived = gradients(flow);
  const auto forNodes = [&](const auto& visit) {
    for (int k = 0; k < count[2]; ++k)
      for (int j = 0; j < count[1]; ++j)
        for (int i = 0; i < count[0]; ++i) visit(i, j, k);
  };
  const auto add = [&](const char* name, int components, const std::vector<double>& values,
                       int begin) {
    Field field{name, components, {}};
    forNodes([&](int i, int j, int k) {
      for (int c = begin; c < begin + components; ++c)
        field.values.push_back(values[static_cast<std::size_t>(c) * decomposition_.size() +
                                      decomposition_.at(i, j, k)]);
    });
    result.fields.push_back(std::move(field));
  };
  add("velocity", 3, flow, VelocityX);
  add("pressure", 1, flow, Pressure);
  add("vorticity", 3, derived, VorticityX);
  add("Q", 1, derived, SecondInvariant);
  Field solid{"solid", 1, {}};
  forNodes([&](int i, int j, int) {
    solid.values.push_back(mediumAt(first[0] + i, first[1] + j) == Medium::Wall ? 1 : 0);
  });
  result.fields.push_back(std::move(solid));
  return result;
}
