// SPDX-License-Identifier: BSD-3-Clause
#include "Time/Checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Shares.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;

/// @param cure  the end of the error's text
Bytes readFile(const std::string& path, const char* cure) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    throw Error("cannot read the file \"" + path + "\" of the checkpoint" + cure);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = file.tellg();
  Bytes bytes;
  if (file && size >= 0) {
    bytes.resize(static_cast<std::size_t>(size));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), size);
  }
  if (!file || size < 0)
    throw Error("cannot read the file \"" + path + "\" of the checkpoint" + cure);
  return bytes;
}

void writeFile(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    throw Error("cannot write the file \"" + path +
                "\" of the checkpoint; check the free space and the permissions of the folder");
}

/// Removes a file when it goes out of scope, unless keep() was called.
class FreshFile {
 public:
  explicit FreshFile(std::string path) : path_(std::move(path)) {}
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;
  ~FreshFile() {
    std::error_code ignored;
    if (!isKept_) fs::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }
  void keep() { isKept_ = true; }
  void discard() { isKept_ = false; }

 private:
  std::string path_;
  bool isKept_ = false;
};

}  // namespace

std::uint64_t checksumOf(Span<const std::byte> bytes) {
  std::uint64_t sum = scramble(bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    sum = scramble(sum ^ word);
  }
  return sum;
}

/// At the beginning of an index; the digit is that of the format.
std::string Checkpoint::title() const {
  return "Tributary checkpoint of " + name_ + " 5";
}

/// Local. Removes the parts of all other checkpoints, also of those that were not completed.
void Checkpoint::removeOtherParts(std::int64_t generation) const {
  std::vector<fs::path> others;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, name_.size(), name_) != 0) continue;
    long long of = 0, part = 0;
    int end = 0;
    if (std::sscanf(name.c_str() + name_.size(), ".%lld.%lld%n", &of, &part, &end) == 2 &&
        name.size() == name_.size() + static_cast<std::size_t>(end) && of != generation)
      others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove(other, ignored);
}

std::string Checkpoint::indexPath() const {
  return (fs::path(folder_) / (name_ + ".index")).string();
}

std::string Checkpoint::partPath(std::int64_t generation, std::int64_t part) const {
  return (fs::path(folder_) /
          (name_ + "." + std::to_string(generation) + "." + std::to_string(part)))
      .string();
}

std::optional<CheckpointIndex> Checkpoint::find() const {
  std::error_code ignored;
  if (!fs::exists(indexPath(), ignored)) return std::nullopt;
  const Bytes bytes =
      readFile(indexPath(), "; check its permissions, or choose another Checkpoint Directory");
  const auto refuse = [&] {
    throw Error("\"" + indexPath() +
                "\" is not the index of a checkpoint of this version of the filter; choose another "
                "Checkpoint Directory, or remove the file");
  };
  CheckpointIndex index;
  try {
    Reader reader(bytes);
    if (reader.text() != title()) refuse();
    index.generation = reader.value<std::int64_t>();
    index.time = reader.value<double>();
    index.steps = reader.range<double>();
    reader.rangeInto(index.basis);
    reader.rangeInto(index.common);
    index.sizes = reader.range<std::int64_t>();
    index.checksums = reader.range<std::uint64_t>();
    const auto checksum = reader.value<std::uint64_t>();
    Bytes all(bytes.begin(), bytes.end() - sizeof checksum);
    if (!reader.atEnd() || checksum != checksumOf({all.data(), all.size()})) refuse();
  } catch (const Error&) {
    refuse();
  }
  if (index.generation < 0 || index.sizes.empty() || index.sizes.size() != index.checksums.size())
    refuse();
  return index;
}

void Checkpoint::write(Transport& transport, CheckpointIndex index, const Bytes& part) const {
  const bool isFirst = transport.rank() == 0;
  std::int64_t before = -1;
  collectively(transport, [&] {
    if (!isFirst) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
      throw Error("cannot create the Checkpoint Directory \"" + folder_ + "\": " + error.message() +
                  "; check its path and permissions");
    if (const auto last = find()) before = last->generation;
  });
  // Never overwrites the files of a complete checkpoint.
  index.generation = allreduce(transport, ReduceOp::Max, before) + 1;
  FreshFile mine(partPath(index.generation, transport.rank()));
  collectively(transport, [&] { writeFile(mine.path(), part); });
  index.sizes = allgather(transport, static_cast<std::int64_t>(part.size()));
  index.checksums = allgather(transport, checksumOf({part.data(), part.size()}));
  // Rank 0 may make this part one of the checkpoint, whatever this rank encounters meanwhile.
  mine.keep();
  ErrorCollector errors;
  bool isReplaced = false;
  errors.attempt([&] {
    if (!isFirst) return;
    Writer writer;
    writer.text(title()).value(index.generation).value(index.time).range(index.steps);
    writer.range(index.basis).range(index.common).range(index.sizes).range(index.checksums);
    Bytes bytes = writer.take();
    const std::uint64_t checksum = checksumOf({bytes.data(), bytes.size()});
    append(bytes, &checksum, sizeof checksum);
    const FreshFile fresh(indexPath() + ".new");
    writeFile(fresh.path(), bytes);
    std::error_code error;
    fs::rename(fresh.path(), indexPath(), error);
    if (error)
      throw Error("cannot replace \"" + indexPath() + "\": " + error.message() +
                  "; check the permissions of the folder");
    isReplaced = true;
  });
  if (allreduce(transport, ReduceOp::Or, std::int64_t(isReplaced)) == 0) mine.discard();
  errors.attempt([&] {
    if (isReplaced) removeOtherParts(index.generation);
  });
  errors.agree(transport);
}

std::vector<Bytes> Checkpoint::read(Transport& transport, const CheckpointIndex& index) const {
  std::vector<Bytes> mine;
  collectively(transport, [&] {
    const Shares shares{static_cast<std::int64_t>(index.sizes.size()), transport.size()};
    const std::int64_t first = shares.first(transport.rank());
    for (std::int64_t p = first; p < first + shares.count(transport.rank()); ++p) {
      const auto i = static_cast<std::size_t>(p);
      const std::string path = partPath(index.generation, p);
      Bytes bytes = readFile(path, "");
      if (static_cast<std::int64_t>(bytes.size()) != index.sizes[i] ||
          checksumOf({bytes.data(), bytes.size()}) != index.checksums[i])
        throw Error("the file \"" + path + "\" of the checkpoint is damaged");
      mine.push_back(std::move(bytes));
    }
  });
  return mine;
}

}  // namespace tributary
