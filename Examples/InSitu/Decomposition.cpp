// SPDX-License-Identifier: BSD-3-Clause
#include "Decomposition.h"

#include <cstdint>
#include <stdexcept>

Decomposition::Decomposition(MPI_Comm communicator, const std::array<int, 3>& nodes)
    : nodes_(nodes) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(communicator, &ranks);
  int parts[2] = {0, 0}, place[2];
  const int isPeriodic[2] = {0, 0};
  MPI_Dims_create(ranks, 2, parts);  // more parts along x, which is longer
  if (nodes[0] < parts[0] || nodes[1] < parts[1] || nodes[2] < 1)
    throw std::invalid_argument("the grid has fewer nodes than there are ranks");
  MPI_Cart_create(communicator, 2, parts, isPeriodic, 0, &communicator_);
  MPI_Comm_rank(communicator_, &rank);
  MPI_Cart_coords(communicator_, rank, 2, place);
  for (unsigned axis = 0; axis < 2; ++axis) {
    const auto begin = [&](std::int64_t part) {
      return static_cast<int>(nodes[axis] * part / parts[axis]);
    };
    first_[axis] = begin(place[axis]);
    count_[axis] = begin(place[axis] + 1) - first_[axis];
  }
  count_[2] = nodes[2];
}

Decomposition::~Decomposition() {
  MPI_Comm_free(&communicator_);
}

std::size_t Decomposition::size() const {
  return at(-1, -1, count_[2]);
}

std::size_t Decomposition::at(int i, int j, int k) const {
  const auto row = static_cast<std::size_t>(count_[0]) + 2;
  const auto rows = static_cast<std::size_t>(count_[1]) + 2;
  return static_cast<std::size_t>(i + 1) +
         row * (static_cast<std::size_t>(j + 1) + rows * static_cast<std::size_t>(k));
}

void Decomposition::exchange(std::vector<double>& values, const Components& components) const {
  std::vector<double> sent, received;
  for (const int axis : {0, 1}) {
    for (const int direction : {-1, 1}) {
      int source = 0, target = 0;
      MPI_Cart_shift(communicator_, axis, direction, &source, &target);
      const auto moved = components(axis, direction);
      const int last = count_[static_cast<unsigned>(axis)] - 1;
      sent.clear();
      forLayer(axis, direction < 0 ? 0 : last, moved,
               [&](std::size_t place) { sent.push_back(values[place]); });
      received.resize(sent.size());
      const auto length = static_cast<int>(sent.size());
      MPI_Sendrecv(sent.data(), length, MPI_DOUBLE, target, 0, received.data(), length, MPI_DOUBLE,
                   source, 0, communicator_, MPI_STATUS_IGNORE);
      if (source == MPI_PROC_NULL) continue;
      auto next = received.begin();
      forLayer(axis, direction < 0 ? last + 1 : -1, moved,
               [&](std::size_t place) { values[place] = *next++; });
    }
  }
}

/// Visits the places of a layer of nodes. Layers along y include the nodes that were received along
/// x.
void Decomposition::forLayer(int axis, int layer, const std::vector<int>& components,
                             const Visit& visit) const {
  const int low = axis == 0 ? 0 : -1;
  const int high = axis == 0 ? count_[1] : count_[0] + 1;
  for (const int component : components)
    for (int k = 0; k < count_[2]; ++k)
      for (int n = low; n < high; ++n)
        visit(static_cast<std::size_t>(component) * size() +
              (axis == 0 ? at(layer, n, k) : at(n, layer, k)));
}
