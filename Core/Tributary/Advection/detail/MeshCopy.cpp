// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshCopy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Advection/detail/MeshCheck.h"
#include "Tributary/Base/Error.h"

namespace tributary::detail {
namespace {

/// The beginning of a copy.
struct Copied {
  BlockId firstBlock;
  std::array<std::int64_t, 3> gridPoints;  ///< 0 if the piece is no grid.
  std::int32_t blocks, dimension;
  std::uint8_t pointsAreDouble, velocityIsDouble, cellCentered, byId, hasLater, moves, unused[2];
};
static_assert(sizeof(Copied) == 48);

std::size_t bytesOf(const ArrayView& array) {
  return std::size_t(array.tuples) * 3 * (array.isDouble ? sizeof(double) : sizeof(float));
}

void writeArray(Writer& writer, const ArrayView& array) {
  writer.range(Span<const std::byte>(static_cast<const std::byte*>(array.data), bytesOf(array)));
}

bool fitInto32Bits(Span<const std::int64_t> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) {
    return n >= 0 && n <= std::numeric_limits<std::int32_t>::max();
  });
}

/// Writes numbers with 32 bits if these suffice: less is sent.
void writeNumbers(Writer& writer, Span<const std::int64_t> numbers) {
  const bool are32 = fitInto32Bits(numbers);
  writer.value(std::uint64_t(are32)).value(std::uint64_t(numbers.size()));
  const std::size_t bytes = are32 ? sizeof(std::int32_t) : sizeof(std::int64_t);
  std::byte* const out = writer.extend(numbers.size() * bytes);
  if (!are32) {
    std::copy_n(reinterpret_cast<const std::byte*>(numbers.data()), numbers.size() * bytes, out);
    return;
  }
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const auto value = std::int32_t(numbers[n]);
    std::memcpy(out + n * sizeof value, &value, sizeof value);
  }
}

using Numbers = std::vector<std::int64_t, UninitializedAllocator<std::int64_t>>;

Numbers readNumbers(Reader& reader) {
  const bool are32 = reader.value<std::uint64_t>() != 0;
  const auto count = reader.value<std::uint64_t>();
  const std::size_t bytes = are32 ? sizeof(std::int32_t) : sizeof(std::int64_t);
  if (count > reader.remaining() / bytes) refuseMessage("more numbers than there are");
  const auto raw = reader.raw(std::size_t(count) * bytes);
  Numbers numbers;
  numbers.resize(std::size_t(count));
  if (!are32) {
    if (count > 0) std::memcpy(numbers.data(), raw.data(), raw.size());
    return numbers;
  }
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    std::int32_t value;
    std::memcpy(&value, raw.data() + n * sizeof value, sizeof value);
    numbers[n] = value;
  }
  return numbers;
}

/// The arrays of a copy, and the piece that views them.
struct OwnPiece {
  Bytes points, laterPoints, velocity, laterVelocity;
  std::vector<std::uint8_t> types, ghosts;
  Numbers offsets, connectivity, globalPointIds;
  MeshPiece piece;

  std::unique_ptr<MeshTopology> topology;
};

/// Reads an array of tuples of 3 values.
ArrayView readArray(Reader& reader, bool isDouble, Bytes& array) {
  reader.rangeInto(array);
  const std::size_t bytes = 3 * (isDouble ? sizeof(double) : sizeof(float));
  if (array.size() % bytes != 0) refuseMessage("an array with a part of a tuple");
  return {array.data(), isDouble, std::int64_t(array.size() / bytes)};
}

}  // namespace

std::size_t copiedBytes(const MeshTopology& topology) {
  const MeshPiece& piece = topology.piece();
  return 1024 + bytesOf(piece.points) + bytesOf(piece.laterPoints) + bytesOf(piece.velocity) +
         bytesOf(piece.laterVelocity) + piece.types.size() + piece.ghosts.size() +
         sizeof(std::int64_t) *
             (piece.offsets.size() + piece.connectivity.size() + piece.globalPointIds.size()) +
         topology.linkBytes();
}

void writeMesh(const MeshTopology& topology, Writer& writer) {
  const MeshPiece& piece = topology.piece();
  const bool byId = topology.identifiesById();
  writer.value(Copied{topology.firstBlock(),
                      piece.grid ? piece.grid->points() : std::array<std::int64_t, 3>{},
                      topology.blocks(),
                      topology.dimension(),
                      piece.points.isDouble,
                      piece.velocity.isDouble,
                      piece.cellCentered,
                      byId,
                      piece.laterVelocity.data != nullptr,
                      moves(piece),
                      {}});
  writeArray(writer, piece.points);
  if (moves(piece)) writeArray(writer, piece.laterPoints);
  writeArray(writer, piece.velocity);
  if (piece.laterVelocity.data) writeArray(writer, piece.laterVelocity);
  writer.range(piece.types).range(piece.ghosts);
  writeNumbers(writer, piece.offsets);
  writeNumbers(writer, piece.connectivity);
  writeNumbers(writer, byId ? piece.globalPointIds : Span<const std::int64_t>());
  topology.writeLinks(writer);
}

std::shared_ptr<const MeshTopology> readMesh(int number, BlockId blocks,
                                             const ParallelFor& parallelFor, Reader& reader) {
  const auto copied = reader.value<Copied>();
  if (copied.blocks < 1 || copied.blocks > blocks || copied.firstBlock < 0 ||
      copied.firstBlock > blocks - copied.blocks)
    refuseMessage("a mesh with blocks that do not exist");
  const auto own = std::make_shared<OwnPiece>();
  MeshPiece& piece = own->piece;
  piece.piece = number;
  piece.cellCentered = copied.cellCentered != 0;
  piece.points = readArray(reader, copied.pointsAreDouble != 0, own->points);
  if (copied.moves != 0)
    piece.laterPoints = readArray(reader, copied.pointsAreDouble != 0, own->laterPoints);
  piece.velocity = readArray(reader, copied.velocityIsDouble != 0, own->velocity);
  if (copied.hasLater != 0)
    piece.laterVelocity = readArray(reader, copied.velocityIsDouble != 0, own->laterVelocity);
  own->types = reader.range<std::uint8_t>();
  own->ghosts = reader.range<std::uint8_t>();
  own->offsets = readNumbers(reader);
  own->connectivity = readNumbers(reader);
  own->globalPointIds = readNumbers(reader);
  piece.types = own->types;
  piece.ghosts = own->ghosts;
  piece.offsets = {own->offsets.data(), own->offsets.size()};
  piece.connectivity = {own->connectivity.data(), own->connectivity.size()};
  piece.globalPointIds = {own->globalPointIds.data(), own->globalPointIds.size()};
  if (copied.gridPoints[0] != 0) piece.grid.emplace(copied.gridPoints);
  checkPiece(piece, false, copied.blocks, copied.dimension, parallelFor);
  if (copied.byId != 0 && piece.globalPointIds.empty() && piece.points.tuples > 0)
    refuseMessage("a mesh without the ids of its points");
  own->topology = std::make_unique<MeshTopology>(piece, copied.blocks, copied.dimension,
                                                 copied.firstBlock, parallelFor);
  own->topology->identifyPoints(copied.byId != 0);
  own->topology->readLinks(reader);
  return {own, own->topology.get()};
}

}  // namespace tributary::detail
