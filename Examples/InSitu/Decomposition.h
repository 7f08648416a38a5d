// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

/// The nodes of a grid over the ranks of a communicator: boxes of equal size along x and y, each
/// with one layer of nodes of its neighbors around it. All ranks have all nodes along z.
class Decomposition {
 public:
  /// Collective.
  /// @param nodes  of the whole grid
  /// @throws std::invalid_argument if a rank would have no nodes
  Decomposition(MPI_Comm communicator, const std::array<int, 3>& nodes);
  ~Decomposition();
  Decomposition(const Decomposition&) = delete;
  Decomposition& operator=(const Decomposition&) = delete;

  MPI_Comm communicator() const { return communicator_; }
  const std::array<int, 3>& nodes() const { return nodes_; }
  /// The first node of this rank, and the number of its nodes, along each axis.
  const std::array<int, 3>& first() const { return first_; }
  const std::array<int, 3>& count() const { return count_; }

  /// The number of nodes for which this rank has memory.
  std::size_t size() const;
  /// The place of a node in memory, x first.
  /// @param i, j  counted from the first node of this rank; -1 and count() are those of neighbors
  std::size_t at(int i, int j, int k) const;

  /// Which components of a neighbor's nodes are needed that lie in a direction (-1 or 1) along an
  /// axis.
  using Components = std::function<std::vector<int>(int axis, int direction)>;

  /// Collective. Copies the nodes of neighbors, also of those along the diagonal, which are
  /// received with the nodes along y.
  /// @param values      by component, then by node
  /// @param components  that are sent in a direction; the same on all ranks
  void exchange(std::vector<double>& values, const Components& components) const;

 private:
  using Visit = std::function<void(std::size_t)>;
  void forLayer(int axis, int layer, const std::vector<int>& components, const Visit& visit) const;

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::array<int, 3> nodes_, first_{}, count_{};
};
