// SPDX-License-Identifier: BSD-3-Clause
#include "Reduction/Reduction.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "Support/DiyRuns.h"
#include "Support/Images.h"
#include "Support/InterleavedComparison.h"
#include "Support/Mpi.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Reduction/ArrayMerge.h"
#include "Tributary/Reduction/Merge.h"
#include "Tributary/Reduction/Swap.h"
#include "Tributary/Transport/Mpi.h"
#include "Tributary/Transport/Simulated.h"

namespace bench {

namespace {

using tributary::Assignment;
using tributary::BlockId;
using tributary::Bytes;
using tributary::Interval;
using tributary::Transport;

void over(const Pixel* lower, const Pixel* upper, Pixel* result, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float rest = 1 - lower[i].a;
    result[i] = {lower[i].r + rest * upper[i].r, lower[i].g + rest * upper[i].g,
                 lower[i].b + rest * upper[i].b, lower[i].a + rest * upper[i].a};
  }
}

Pixel pixelOf(BlockId block, std::int64_t at) {
  const auto bits = static_cast<std::uint32_t>((block * 1000003 + at) * 2654435761) >> 4;
  const auto part = [&](int i) { return static_cast<float>((bits >> (6 * i)) % 64) / 256; };
  return {part(0), part(1), part(2), part(3)};
}

/// Threads that wait for the next loop.
class ThreadPool {
 public:
  explicit ThreadPool(int threads) {
    for (int t = 1; t < threads; ++t) threads_.emplace_back([this] { serve(); });
  }
  ~ThreadPool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body) {
    if (n < 2 || threads_.empty()) return tributary::serialFor(n, body);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      body_ = &body;
      size_ = n;
      next_ = 0;
      ++loops_;
      working_ = threads_.size();
    }
    wake_.notify_all();
    work();
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
  }

 private:
  void work() {
    for (std::int64_t i = next_++; i < size_; i = next_++) (*body_)(i, i + 1);
  }
  void serve() {
    std::int64_t served = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return stopped_ || loops_ > served; });
      if (stopped_) return;
      served = loops_;
      lock.unlock();
      work();
      lock.lock();
      if (--working_ == 0) done_.notify_one();
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::int64_t, std::int64_t)>* body_ = nullptr;
  std::int64_t size_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::int64_t loops_ = 0;
  std::size_t working_ = 0;
  bool stopped_ = false;
};

/// MPI calls a plain function.
const CombinePixels* combineOfMpi = nullptr;
void combineForMpi(void* lower, void* upper, int* count, MPI_Datatype*) {
  auto* result = static_cast<Pixel*>(upper);
  (*combineOfMpi)(static_cast<Pixel*>(lower), result, result, static_cast<std::size_t>(*count));
}

/// The values of k that differ for this number of blocks.
std::vector<int> distinct(const std::vector<int>& wanted, std::int64_t blocks) {
  std::vector<int> result;
  for (const int k : wanted) {
    const auto used = static_cast<int>(k == 0 ? blocks : std::min<std::int64_t>(k, blocks));
    if (used >= 2 && std::find(result.begin(), result.end(), used) == result.end())
      result.push_back(used);
  }
  return result;
}

std::string nameOf(Pattern pattern) {
  return pattern == Pattern::Merge ? "merge" : "swap";
}

/// A row of the table of best k: what was measured for each k that was wanted.
Row bestOf(Row row, const std::vector<int>& wanted, const std::vector<int>& ks, std::int64_t blocks,
           const std::vector<double>& seconds) {
  for (const int k : wanted) {
    const auto at = std::find(ks.begin(), ks.end(), k == 0 ? blocks : k) - ks.begin();
    const bool measured = at < static_cast<std::ptrdiff_t>(ks.size());
    row[k == 0 ? "all" : "k=" + std::to_string(k)] =
        measured ? seconds[static_cast<std::size_t>(at)] * 1e3 : std::nan("");
  }
  const auto least = std::min_element(seconds.begin(), seconds.end()) - seconds.begin();
  row["best k"] = ks.empty() ? 0 : ks[static_cast<std::size_t>(least)];
  return row;
}

/// Images of one size on this rank, and the ways to reduce them.
class ImageComparison {
 public:
  ImageComparison(Transport& transport, Pattern pattern, std::int64_t pixels,
                  const ReductionOptions& options)
      : transport_(transport),
        pattern_(pattern),
        pixels_(pixels),
        options_(options),
        assignment_(std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()),
                                              options.blocksPerRank)),
        ks_(distinct(options.k, assignment_.total())),
        pool_(options.threads),
        comparison_(transport, options.variants) {
    combine_ = [this](const Pixel* lower, const Pixel* upper, Pixel* result, std::size_t count) {
      if (options_.combine == "over") over(lower, upper, result, count);
      combined_ += static_cast<std::int64_t>(count);
    };
    const tributary::ParallelFor parallelFor = [this](std::int64_t n, const auto& body) {
      pool_.run(n, body);
    };
    for (int i = 0; i < options.blocksPerRank; ++i) {
      auto& image = given_.emplace_back();
      for (std::int64_t p = 0; p < pixels; ++p)
        image.push_back(pixelOf(assignment_.first(transport.rank()) + i, p));
    }
    work_ = given_;
    for (auto& image : work_) images_.push_back(image.data());
    checkMpi(MPI_Type_contiguous(4, MPI_FLOAT, &pixelType_), "MPI_Type_contiguous");
    checkMpi(MPI_Type_commit(&pixelType_), "MPI_Type_commit");
    checkMpi(MPI_Op_create(combineForMpi, 0, &mpiOp_), "MPI_Op_create");
    combineOfMpi = &combine_;
    if (pattern == Pattern::Merge) {
      addMerges(parallelFor);
    } else {
      addSwaps(parallelFor);
    }
  }
  ImageComparison(const ImageComparison&) = delete;
  ImageComparison& operator=(const ImageComparison&) = delete;
  ~ImageComparison() {
    combineOfMpi = nullptr;
    constexpr const char* When = "freeing the operator and the type of pixels";
    tributary::detail::reportErrors(When, [&] { checkMpi(MPI_Op_free(&mpiOp_), "MPI_Op_free"); });
    tributary::detail::reportErrors(When,
                                    [&] { checkMpi(MPI_Type_free(&pixelType_), "MPI_Type_free"); });
  }

  void addRows(Report& report, Report& best) {
    comparison_.run(
        options_.repeat, [this] { work_ = given_; },
        [this](const std::string& name) { check(name); });
    Row about{{"pattern", nameOf(pattern_)},
              {"ranks", transport_.size()},
              {"blocks/rank", options_.blocksPerRank},
              {"bytes", pixels_ * static_cast<std::int64_t>(sizeof(Pixel))}};
    std::vector<double> seconds;
    for (const int k : ks_) {
      const double ours = comparison_.seconds(ourName(k));
      const double mpi = comparison_.seconds("MPI");
      const double diy = comparison_.seconds(diyName(k));
      Row row = about;
      row["k"] = k;
      row["ours ms"] = ours * 1e3;
      row["items ms"] =
          pattern_ == Pattern::Merge ? comparison_.seconds(itemsName(k)) * 1e3 : std::nan("");
      row["MPI ms"] = mpi * 1e3;
      row["DIY ms"] = diy * 1e3;
      row["MPI/ours"] = mpi / ours;
      row["DIY/ours"] = diy / ours;
      for (const Variant& variant : comparison_.variants())
        row["seconds"][variant.name] = variant.seconds;
      report.add(row);
      seconds.push_back(ours);
    }
    best.add(bestOf(std::move(about), options_.k, ks_, assignment_.total(), seconds));
  }

 private:
  /// What this rank has of a result.
  struct Part {
    Interval pixels;
    const Pixel* image;
  };

  static std::string ourName(int k) { return "ours k=" + std::to_string(k); }
  static std::string itemsName(int k) { return "items k=" + std::to_string(k); }
  static std::string diyName(int k) { return "DIY k=" + std::to_string(k); }

  /// A variant of which only `run` is timed; the first time, which finds no memory and connections,
  /// is not.
  void add(const std::string& name, const std::function<void()>& prepare,
           const std::function<void()>& run, const std::function<std::vector<Part>()>& result) {
    Variant variant;
    variant.name = name;
    variant.ours = false;  // it has no counters
    variant.run = [this, prepare, run, result,
                   isWarm = false](tributary::ExchangeStatistics&) mutable {
      double seconds = 0;
      for (int time = isWarm ? 1 : 0; time < 2; ++time) {
        work_ = given_;
        prepare();
        combined_ = 0;
        checkMpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        const double begin = MPI_Wtime();
        run();
        seconds = MPI_Wtime() - begin;
        result_ = result();
      }
      isWarm = true;
      return seconds;
    };
    comparison_.add(std::move(variant));
  }

  void addMerges(const tributary::ParallelFor& parallelFor) {
    const auto whole = [this](const Pixel* image) {
      return std::vector<Part>{{{0, transport_.rank() == 0 ? pixels_ : 0}, image}};
    };
    for (const int k : ks_) {
      const auto merge = std::make_shared<tributary::ArrayMergeReduction<Pixel>>(
          transport_, assignment_, tributary::Rounds::full(assignment_.total(), k), pixels_,
          combine_, parallelFor, options_.segmentBytes);
      add(
          ourName(k), [] {},
          [this, merge] {
            merge->start(images_);
            merge->wait();
          },
          [this, whole] { return whole(images_[0]); });
      addItems(k, parallelFor, whole);
    }
    mpiResult_.resize(static_cast<std::size_t>(transport_.rank() == 0 ? pixels_ : 0));
    add(
        "MPI", [] {},
        [this] {
          combineLocal();
          checkMpi(MPI_Reduce(images_[0], mpiResult_.data(), static_cast<int>(pixels_), pixelType_,
                              mpiOp_, 0, MPI_COMM_WORLD),
                   "MPI_Reduce");
        },
        [this, whole] { return whole(mpiResult_.data()); });
    addDiy();
  }

  /// A merge of whole images, as of items that are no arrays.
  void addItems(int k, const tributary::ParallelFor& parallelFor,
                const std::function<std::vector<Part>(const Pixel*)>& whole) {
    const auto merge = std::make_shared<tributary::MergeReduction<Bytes>>(
        transport_, assignment_, tributary::Rounds::full(assignment_.total(), k),
        [this](Bytes& lower, Bytes&& upper) {
          auto* image = reinterpret_cast<Pixel*>(lower.data());
          combine_(image, reinterpret_cast<const Pixel*>(upper.data()), image,
                   upper.size() / sizeof(Pixel));
        },
        parallelFor);
    add(
        itemsName(k),
        [this] {
          items_.clear();
          for (const auto& image : work_) {
            Bytes& item = items_.emplace_back();
            item.reserve(image.size() * sizeof(Pixel) + tributary::detail::BlockPost::Tail);
            tributary::append(item, image.data(), image.size() * sizeof(Pixel));
          }
        },
        [this, merge] {
          merge->start(std::move(items_));
          merge->wait();
          auto survivors = merge->takeSurvivors();
          if (!survivors.empty()) merged_ = std::move(survivors.front().item);
        },
        [this, whole] { return whole(reinterpret_cast<const Pixel*>(merged_.data())); });
  }

  void addSwaps(const tributary::ParallelFor& parallelFor) {
    for (const int k : ks_) {
      const auto swap = std::make_shared<tributary::SwapReduction<Pixel>>(
          transport_, assignment_, tributary::Rounds::full(assignment_.total(), k), pixels_,
          combine_, parallelFor);
      add(
          ourName(k), [] {},
          [this, swap] {
            swap->start(images_);
            swap->wait();
          },
          [this, swap] {
            std::vector<Part> parts;
            for (std::size_t i = 0; i < images_.size(); ++i)
              parts.push_back({swap->part(i), images_[i] + swap->part(i).begin});
            return parts;
          });
    }
    const std::int64_t ranks = transport_.size();
    std::vector<int> counts;
    for (std::int64_t r = 0; r < ranks; ++r)
      counts.push_back(static_cast<int>(pixels_ * (r + 1) / ranks - pixels_ * r / ranks));
    const std::int64_t rank = transport_.rank();
    const Interval mine{pixels_ * rank / ranks, pixels_ * (rank + 1) / ranks};
    mpiResult_.resize(static_cast<std::size_t>(mine.size()));
    add(
        "MPI", [] {},
        [this, counts] {
          combineLocal();
          checkMpi(MPI_Reduce_scatter(images_[0], mpiResult_.data(), counts.data(), pixelType_,
                                      mpiOp_, MPI_COMM_WORLD),
                   "MPI_Reduce_scatter");
        },
        [this, mine] {
          return std::vector<Part>{{mine, mpiResult_.data()}};
        });
    addDiy();
  }

  /// MPI knows no blocks.
  void combineLocal() {
    for (std::size_t i = 1; i < images_.size(); ++i)
      combine_(images_[0], images_[i], images_[0], static_cast<std::size_t>(pixels_));
  }

  void addDiy() {
#ifdef TRIBUTARY_BENCH_WITH_DIY
    for (const int k : ks_) {
      const auto diy = std::make_shared<DiyReduction>(assignment_, pattern_, k, options_.threads,
                                                      combine_, images_, pixels_);
      add(
          diyName(k), [] {}, [diy] { diy->run(); },
          [this, diy] {
            std::vector<Part> parts;
            for (std::size_t i = 0; i < images_.size(); ++i)
              parts.push_back({diy->part(i), images_[i] + diy->part(i).begin});
            return parts;
          });
    }
#endif
  }

  /// Every pixel of every block was combined once, the parts are the whole image, and samples of
  /// them are the serial fold, up to the rounding of another tree.
  void check(const std::string& name) {
    std::int64_t size = 0, wrong = 0;
    for (const Part& part : result_) {
      size += part.pixels.size();
      if (options_.combine != "over") continue;
      for (std::int64_t p = part.pixels.begin; p < part.pixels.end; p += 61) {
        Pixel all = pixelOf(0, p);
        for (BlockId block = 1; block < assignment_.total(); ++block) {
          const Pixel next = pixelOf(block, p);
          over(&all, &next, &all, 1);
        }
        const Pixel& found = part.image[p - part.pixels.begin];
        const float error = std::max({std::abs(found.r - all.r), std::abs(found.g - all.g),
                                      std::abs(found.b - all.b), std::abs(found.a - all.a)});
        if (!(error < 1e-5F)) ++wrong;
      }
    }
    const auto sums =
        tributary::allreduce(transport_, tributary::ReduceOp::Sum,
                             std::vector<std::int64_t>{size, wrong, combined_.load()});
    if (sums[0] != pixels_ || sums[1] != 0 || sums[2] != pixels_ * (assignment_.total() - 1))
      throw tributary::Error(name + " has " + std::to_string(sums[0]) + " of " +
                             std::to_string(pixels_) + " pixels, " + std::to_string(sums[1]) +
                             " of the samples wrong, and combined " + std::to_string(sums[2]) +
                             " of " + std::to_string(pixels_ * (assignment_.total() - 1)));
  }

  Transport& transport_;
  Pattern pattern_;
  std::int64_t pixels_;
  const ReductionOptions& options_;
  Assignment assignment_;
  std::vector<int> ks_;
  ThreadPool pool_;
  InterleavedComparison comparison_;
  CombinePixels combine_;
  std::atomic<std::int64_t> combined_{0};
  MPI_Datatype pixelType_ = MPI_DATATYPE_NULL;
  MPI_Op mpiOp_ = MPI_OP_NULL;
  std::vector<std::vector<Pixel>> given_, work_;
  std::vector<Pixel*> images_;  // of work_
  std::vector<Bytes> items_;
  Bytes merged_;
  std::vector<Pixel> mpiResult_;
  std::vector<Part> result_;
};

/// A simulated network for blocks of a given size. Large blocks are scaled down: a byte stands for
/// several bytes and costs as much.
class ScaledNetwork {
 public:
  ScaledNetwork(int ranks, std::int64_t pixels, const ReductionOptions& options) {
    constexpr std::int64_t MostPixelsAtOnce = std::int64_t(1) << 26;
    carriedPixels_ = std::max<std::int64_t>(1, std::min(pixels, MostPixelsAtOnce / ranks));
    const double scale = static_cast<double>(pixels) / static_cast<double>(carriedPixels_);
    scale_ = scale;
    pixelSeconds_ = options.pixelSeconds * scale;
    tributary::VirtualTimeNetworkOptions network;
    network.ranks = ranks;
    network.ranksPerNode = options.ranksPerNode;
    network.within.gapPerByte *= scale;
    network.between.gapPerByte *= scale;
    network_ = tributary::makeVirtualTimeNetwork(network);
  }

  std::int64_t pixels() const { return carriedPixels_; }
  std::size_t bytes() const { return static_cast<std::size_t>(carriedPixels_) * sizeof(Pixel); }
  /// The number of bytes that stand for `bytes`.
  std::size_t carried(std::size_t bytes) const {
    return static_cast<std::size_t>(std::ceil(static_cast<double>(bytes) / scale_));
  }
  /// Spends the time to combine `pixels`, which are scaled down.
  void combine(Transport& transport, std::size_t pixels) const {
    transport.spend(static_cast<double>(pixels) * pixelSeconds_);
  }

  /// Seconds from the start of the first rank to the end of the last one.
  /// @param body  called on each rank; returns what is timed
  double time(const std::function<std::function<void()>(Transport&)>& body) {
    double first = std::numeric_limits<double>::infinity(), last = 0;
    network_->run([&](Transport& transport) {
      const std::function<void()> timed = body(transport);
      tributary::barrier(transport);
      first = std::min(first, transport.now());
      timed();
      last = std::max(last, transport.now());
    });
    return last - first;
  }

 private:
  std::unique_ptr<tributary::SimulatedNetwork> network_;
  std::int64_t carriedPixels_ = 0;
  double scale_ = 1;
  double pixelSeconds_ = 0;
};

/// @param items  merge whole images, as of items that are no arrays
double simulateOurs(int ranks, Pattern pattern, std::int64_t pixels, int k, bool items,
                    const ReductionOptions& options) {
  ScaledNetwork network(ranks, pixels, options);
  const Assignment assignment(
      std::vector<std::int64_t>(static_cast<std::size_t>(ranks), options.blocksPerRank));
  const auto kValues = tributary::Rounds::full(assignment.total(), k);
  // All blocks share the pixels, which are not read.
  std::vector<Pixel> image(static_cast<std::size_t>(network.pixels()));
  return network.time([&](Transport& transport) -> std::function<void()> {
    const auto perRank = static_cast<std::size_t>(options.blocksPerRank);
    const auto combine = [&](const Pixel*, const Pixel*, Pixel*, std::size_t count) {
      network.combine(transport, count);
    };
    const auto inBuffers = [&image, perRank](const auto& machine) {
      return [&image, perRank, machine] {
        machine->start(std::vector<Pixel*>(perRank, image.data()));
        machine->wait();
      };
    };
    if (pattern == Pattern::Swap) {
      return inBuffers(std::make_shared<tributary::SwapReduction<Pixel>>(
          transport, assignment, kValues, network.pixels(), combine));
    }
    if (!items) {
      return inBuffers(std::make_shared<tributary::ArrayMergeReduction<Pixel>>(
          transport, assignment, kValues, network.pixels(), combine, tributary::serialFor,
          network.carried(options.segmentBytes)));
    }
    const auto merge = std::make_shared<tributary::MergeReduction<Bytes>>(
        transport, assignment, kValues,
        [&](Bytes&, Bytes&&) { network.combine(transport, network.bytes() / sizeof(Pixel)); });
    return [&, merge, perRank] {
      std::vector<Bytes> items(perRank);
      for (Bytes& item : items) {
        item.reserve(network.bytes() + tributary::detail::BlockPost::Tail);
        item.resize(network.bytes());
      }
      merge->start(std::move(items));
      merge->wait();
    };
  });
}

/// The textbook's: a binomial tree of whole images to rank 0, and for a swap all parts from there.
double simulatePlain(int ranks, Pattern pattern, std::int64_t pixels,
                     const ReductionOptions& options) {
  ScaledNetwork network(ranks, pixels, options);
  const std::size_t perBlock = network.bytes() / sizeof(Pixel);
  const auto receive = [](Transport& transport, tributary::Session session) {
    tributary::Backoff backoff;
    while (!transport.tryReceive(tributary::Topic::Work, session)) backoff.pause(transport);
  };
  return network.time([&](Transport& transport) -> std::function<void()> {
    return [&] {
      const int rank = transport.rank();
      const tributary::Session session = transport.openSession();
      const auto send = [&](int to, std::size_t bytes) {
        Bytes message;
        message.resize(bytes);
        transport.send(to, tributary::Topic::Work, session, tributary::SendMode::Eager,
                       std::move(message));
      };
      for (int i = 1; i < options.blocksPerRank; ++i) network.combine(transport, perBlock);
      int step = 1;
      for (; step < ranks && rank % (2 * step) == 0; step *= 2) {
        if (rank + step >= ranks) continue;
        receive(transport, session);
        network.combine(transport, perBlock);
      }
      if (rank != 0) send(rank - step, network.bytes());
      if (pattern == Pattern::Merge) return;
      if (rank != 0) return receive(transport, session);
      for (int to = 1; to < ranks; ++to)
        send(to, network.bytes() / static_cast<std::size_t>(ranks));
    };
  });
}

void addSimulatedRows(Report& report, Report& best, int ranks, Pattern pattern, std::int64_t pixels,
                      const ReductionOptions& options) {
  const std::int64_t blocks = std::int64_t(ranks) * options.blocksPerRank;
  Row about{{"pattern", nameOf(pattern)},
            {"ranks", ranks},
            {"blocks/rank", options.blocksPerRank},
            {"bytes", pixels * static_cast<std::int64_t>(sizeof(Pixel))}};
  const double plain = simulatePlain(ranks, pattern, pixels, options);
  const std::vector<int> ks = distinct(options.k, blocks);
  std::vector<double> seconds;
  for (const int k : ks) {
    seconds.push_back(simulateOurs(ranks, pattern, pixels, k, false, options));
    Row row = about;
    row["k"] = k;
    row["ours ms"] = seconds.back() * 1e3;
    row["items ms"] = pattern == Pattern::Merge
                          ? simulateOurs(ranks, pattern, pixels, k, true, options) * 1e3
                          : std::nan("");
    row["plain ms"] = plain * 1e3;
    row["plain/ours"] = plain / seconds.back();
    report.add(row);
  }
  best.add(bestOf(std::move(about), options.k, ks, blocks, seconds));
}

}  // namespace

void measureReduction(const ReductionOptions& options) {
  std::unique_ptr<Transport> world;
  if (options.simulate.empty()) world = tributary::makeMpiTransport(MPI_COMM_WORLD);
  const int rank = worldRank();
  if (!world && rank > 0) return;
  Row settings{{"operator", options.combine}};
  if (world) {
    settings["threads"] = options.threads;
    settings["repetitions"] = options.repeat;
  } else {
    settings["ranks per node"] = options.ranksPerNode;
    settings["seconds per pixel"] = options.pixelSeconds;
  }
  Report report(world ? "Reductions of images (medians)"
                      : "Reductions of images, simulated; plain: binomial tree, then scattered",
                settings);
  Report best("Milliseconds by k, and the best k", settings);
  const std::vector<int> sizes = world ? std::vector<int>{world->size()} : options.simulate;
  for (const int ranks : sizes)
    for (const std::string& name : options.patterns)
      for (const std::int64_t pixels : options.pixels) {
        if (rank == 0)
          std::cerr << "measuring " << name << " on " << ranks << " ranks, " << pixels
                    << " pixels ..." << std::endl;
        const Pattern pattern = name == "merge" ? Pattern::Merge : Pattern::Swap;
        if (world) {
          ImageComparison(*world, pattern, pixels, options).addRows(report, best);
        } else {
          addSimulatedRows(report, best, ranks, pattern, pixels, options);
        }
      }
  if (rank != 0) return;
  report.print(std::cout);
  best.print(std::cout);
  if (!options.json.empty()) report.save(options.json);
}

}  // namespace bench
