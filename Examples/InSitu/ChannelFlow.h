// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "Decomposition.h"

/// A channel with a cylinder across it. Lengths are in diameters of the cylinder, velocities in the
/// mean velocity of the inflow. Channel and cylinder are those of the benchmark 2D-2 of Schaefer
/// and Turek (1996), https://doi.org/10.1007/978-3-322-89849-4_39, but for a slab of some layers of
/// nodes.
struct ChannelSettings {
  double length = 22;
  double height = 4.1;
  std::array<double, 2> center = {2, 2};  ///< of the cylinder
  bool hasCylinder = true;
  double reynolds = 100;   ///< mean velocity of the inflow * diameter / viscosity
  int resolution = 10;     ///< nodes per diameter
  int layers = 4;          ///< of nodes along z, in which the channel is periodic
  double velocity = 0.08;  ///< mean velocity of the inflow in nodes per step; the Mach number is
                           ///< sqrt(3) times this
};

/// An array of values at nodes.
struct Field {
  std::string name;
  int components = 1;
  std::vector<double> values;  ///< by node, x first
};

/// The fields at the nodes of a rank and at the first ones of its neighbors, so that no cell
/// between ranks is missing.
struct FlowFields {
  std::array<int, 6> wholeExtent{}, extent{};  ///< minimum and maximum along each axis
  std::array<double, 3> origin{};
  double spacing = 0;
  std::vector<Field> fields;
};

/// Solves the Navier-Stokes equations for a nearly incompressible flow with the lattice Boltzmann
/// method: D3Q19, two relaxation times, and boundary conditions on the links between nodes. Nodes
/// are half a spacing away from the sides of the channel. The results have the same bits on any
/// number of ranks. Ginzburg, Verhaeghe, d'Humieres, Commun. Comput. Phys. 3 (2008) 427.
class ChannelFlow {
 public:
  /// Collective. The flow begins with the profile of the inflow, and a disturbance behind the
  /// cylinder.
  /// @throws std::invalid_argument if the settings are not possible
  ChannelFlow(MPI_Comm communicator, const ChannelSettings& settings);

  const ChannelSettings& settings() const { return settings_; }
  const Decomposition& decomposition() const { return decomposition_; }
  /// The length of a step in diameters per mean velocity of the inflow.
  double timeStep() const { return settings_.velocity / settings_.resolution; }
  std::int64_t steps() const { return steps_; }
  double time() const { return timeStep() * static_cast<double>(steps_); }

  /// Collective. Takes a step.
  void step();

  /// Collective.
  /// @throws std::runtime_error on all ranks if the flow has become unstable
  void requireStable() const { refuseUnstable(moments()); }

  /// Collective. The arrays velocity, pressure, vorticity and Q, the second invariant of the
  /// velocity gradient, which is positive in vortices, and solid, 1 in the cylinder and 0
  /// elsewhere. Velocity and pressure are 0 in the cylinder.
  /// @throws std::runtime_error on all ranks if the flow has become unstable
  [[nodiscard]] FlowFields fields() const;

  /// The state: populations, by direction and node, of which neighbors have copies.
  const std::vector<double>& populations() const { return populations_; }
  /// Continues from another state.
  void setState(std::int64_t steps, std::vector<double> populations);

 private:
  enum class Kind : unsigned char { Interior, Boundary, Solid };
  enum class Medium { Fluid, Wall, Inflow, Outflow };
  using Node = std::array<int, 3>;  // of this rank

  Medium mediumAt(int x, int y) const;
  double inflow(double y) const;
  void classify();
  void begin();
  std::array<double, 3> initialVelocity(int x, int y) const;
  std::ptrdiff_t place(unsigned q, const Node& node) const;
  double arriving(unsigned q, const Node& node) const;
  std::vector<double> moments() const;
  void refuseUnstable(const std::vector<double>& moments) const;
  std::vector<double> gradients(const std::vector<double>& moments) const;
  double slope(const std::vector<double>& moments, int component, const Node& node, int axis) const;

  ChannelSettings settings_;
  Decomposition decomposition_;
  double evenRate_ = 0, oddRate_ = 0;  // of relaxation
  std::vector<Kind> kinds_;            // of the nodes of the first layer
  std::vector<double> populations_, next_;
  std::int64_t steps_ = 0;
};
