// SPDX-License-Identifier: BSD-3-Clause
#include "Restart.h"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "Lattice.h"

namespace {

/// The beginning of a file: what it is, the flow that it belongs to, and the number of steps.
struct Header {
  char magic[8] = {'l', 'a', 't', 't', 'i', 'c', 'e', '1'};
  std::int64_t nodes[3] = {};
  double reynolds = 0, velocity = 0, center[2] = {};
  std::int64_t hasCylinder = 0, resolution = 0;
  std::int64_t interval = 0;  ///< steps between two outputs
  std::int64_t steps = 0;     ///< last: differs between files of the same flow
};

Header headerOf(const ChannelFlow& flow, std::int64_t interval) {
  const ChannelSettings& settings = flow.settings();
  Header header;
  for (unsigned axis = 0; axis < 3; ++axis) header.nodes[axis] = flow.decomposition().nodes()[axis];
  header.reynolds = settings.reynolds;
  header.velocity = settings.velocity;
  header.center[0] = settings.center[0];
  header.center[1] = settings.center[1];
  header.hasCylinder = settings.hasCylinder;
  header.resolution = settings.resolution;
  header.interval = interval;
  header.steps = flow.steps();
  return header;
}

/// The arrays of populations in the file and in memory, of which this rank reads or writes its own
/// nodes.
class Layout {
 public:
  explicit Layout(const Decomposition& decomposition) {
    const auto &nodes = decomposition.nodes(), &first = decomposition.first(),
               &count = decomposition.count();
    const int all = lattice::Directions;
    const std::array<int, 4> own = {all, count[2], count[1], count[0]};
    make({all, nodes[2], nodes[1], nodes[0]}, own, {0, first[2], first[1], first[0]}, file_);
    make({all, count[2], count[1] + 2, count[0] + 2}, own, {0, 0, 1, 1}, memory_);
  }
  ~Layout() {
    MPI_Type_free(&file_);
    MPI_Type_free(&memory_);
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  MPI_Datatype file() const { return file_; }
  MPI_Datatype memory() const { return memory_; }

 private:
  static void make(const std::array<int, 4>& sizes, const std::array<int, 4>& part,
                   const std::array<int, 4>& begin, MPI_Datatype& type) {
    MPI_Type_create_subarray(4, sizes.data(), part.data(), begin.data(), MPI_ORDER_C, MPI_DOUBLE,
                             &type);
    MPI_Type_commit(&type);
  }

  MPI_Datatype file_ = MPI_DATATYPE_NULL, memory_ = MPI_DATATYPE_NULL;
};

/// A file of all ranks; errors of one rank are thrown on all.
class File {
 public:
  File(const ChannelFlow& flow, const std::string& path, int mode)
      : communicator_(flow.decomposition().communicator()), path_(path) {
    require(MPI_File_open(communicator_, path.c_str(), mode, MPI_INFO_NULL, &file_) == MPI_SUCCESS,
            "cannot be opened");
  }
  ~File() {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  MPI_File handle() const { return file_; }

  /// Data may be written only now.
  void close() { require(MPI_File_close(&file_) == MPI_SUCCESS, "cannot be written"); }

  void require(bool isRight, const char* what) const {
    int mine = isRight ? 1 : 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, communicator_);
    if (all == 0) throw std::runtime_error("the restart file \"" + path_ + "\" " + what);
  }

  void seePopulations(const Layout& layout) const {
    require(MPI_File_set_view(file_, sizeof(Header), MPI_DOUBLE, layout.file(), "native",
                              MPI_INFO_NULL) == MPI_SUCCESS,
            "cannot be accessed");
  }

 private:
  MPI_Comm communicator_;
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace

void writeRestart(const std::string& path, const ChannelFlow& flow, std::int64_t interval) {
  const MPI_Comm communicator = flow.decomposition().communicator();
  const std::string unfinished = path + ".part";
  const Layout layout(flow.decomposition());
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  {
    File file(flow, unfinished, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    // That of a run that was stopped may be longer.
    file.require(MPI_File_set_size(file.handle(), 0) == MPI_SUCCESS, "cannot be written");
    const Header header = headerOf(flow, interval);
    int status = rank == 0 ? MPI_File_write_at(file.handle(), 0, &header, sizeof header, MPI_BYTE,
                                               MPI_STATUS_IGNORE)
                           : MPI_SUCCESS;
    file.require(status == MPI_SUCCESS, "cannot be written");
    file.seePopulations(layout);
    status = MPI_File_write_all(file.handle(), flow.populations().data(), 1, layout.memory(),
                                MPI_STATUS_IGNORE);
    file.require(status == MPI_SUCCESS, "cannot be written");
    file.close();
  }
  int isRenamed = rank != 0 || std::rename(unfinished.c_str(), path.c_str()) == 0;
  MPI_Bcast(&isRenamed, 1, MPI_INT, 0, communicator);
  if (!isRenamed) throw std::runtime_error("the restart file \"" + path + "\" cannot be renamed");
}

void readRestart(const std::string& path, ChannelFlow& flow, std::int64_t interval) {
  const Layout layout(flow.decomposition());
  const File file(flow, path, MPI_MODE_RDONLY);
  const Header expected = headerOf(flow, interval);
  Header found;
  int status =
      MPI_File_read_at_all(file.handle(), 0, &found, sizeof found, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_Offset size = 0;
  MPI_File_get_size(file.handle(), &size);
  MPI_Offset nodes = 1;
  for (const auto n : expected.nodes) nodes *= n;
  file.require(
      status == MPI_SUCCESS && std::memcmp(&found, &expected, offsetof(Header, steps)) == 0 &&
          size ==
              static_cast<MPI_Offset>(sizeof found + nodes * lattice::Directions * sizeof(double)),
      "is that of another flow, has another interval between outputs, or is incomplete");
  std::vector<double> populations = flow.populations();
  file.seePopulations(layout);
  status =
      MPI_File_read_all(file.handle(), populations.data(), 1, layout.memory(), MPI_STATUS_IGNORE);
  file.require(status == MPI_SUCCESS, "cannot be read");
  flow.setState(found.steps, std::move(populations));
}
