// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Transport.h"

namespace bench {

/// What one rank has seen of a run to the known end.
struct DetectorRun {
  double passiveAt = 0;  ///< when it last turned passive, by the transport's clock
  double firedAt = 0;    ///< when its detector fired
  std::int64_t workMessages = 0;
  std::int64_t detectorMessages = 0;
  std::int64_t waves = 0;
  std::uint64_t answer = 0;  ///< of the work; its sum over ranks depends on the program alone
};

/// A program of one rank under a detector, without the exchange between them: a non-blocking state
/// machine that sends its own messages. See makeLoad() and makeWalks().
class DetectorProgram {
 public:
  virtual ~DetectorProgram() = default;

  /// One turn; relaxes if there is nothing to do for now.
  /// @param backoff  how to, in real time; none: the clock is a simulated one
  /// @return true once the detector has fired
  bool turn(tributary::Backoff* backoff = nullptr);

  const DetectorRun& result() const { return run_; }

 protected:
  /// Makes the detector on the transport's next session: collective.
  DetectorProgram(tributary::Transport& transport, const std::string& detector,
                  const tributary::DetectorOptions& options);

  /// Handles a message. The caller reports it to the detector if it is work.
  virtual void receive(int source, tributary::Bytes&& bytes) = 0;
  /// Works for a while. @return false if there is nothing to do now
  virtual bool work() = 0;
  /// Whether there is no work and no answer is expected.
  virtual bool done() const = 0;

  void sendWork(int destination, tributary::Bytes&& bytes);
  /// Sends an answer. It is not reported to the detector, because the receiver is active.
  void sendAnswer(int destination, tributary::Bytes&& bytes);
  /// Computes for this time: advances a simulated clock, or polls a real one.
  void compute(double seconds);

  tributary::Transport& transport_;
  DetectorRun run_;

 private:
  void send(int destination, tributary::Bytes&& bytes);

  tributary::Session session_;
  std::unique_ptr<tributary::Detector> detector_;
  tributary::SendMode mode_;
  std::vector<tributary::PendingSend> sends_;
  bool touched_ = false;
  bool wasPassive_ = false;
  bool realTime_ = false;
};

/// The experiment of E. Kocalar, A. Khokhar, S. E. Hambrusch, "Termination Detection: Models and
/// Algorithms for SPMD Computing Paradigms", IPPS/SPDP 1999, section 4.
struct LoadOptions {
  double mean = 20;           ///< Poisson mean of a rank's load
  int itemsPerUnit = 100;     ///< items of work that a load of 1 stands for
  double itemSeconds = 5e-6;  ///< for an item, and for serving a request
  double remote = 0.05;       ///< share of a rank's items that are requests to others
  double answered = 0.5;      ///< share of requests whose sender waits for an answer
  std::uint64_t seed = 1;
};

/// Ranks with work of their own, which sends requests to random ranks: the APS model. The answer is
/// the number of items and requests that were dealt with.
std::unique_ptr<DetectorProgram> makeLoad(tributary::Transport& transport,
                                          const std::string& detector,
                                          const tributary::DetectorOptions& detection,
                                          const LoadOptions& options);

struct WalkOptions {
  int walkers = 4;        ///< that begin on each rank
  int hops = 100;         ///< of each walker
  int bytes = 64;         ///< of a message, at least 16
  double hopSeconds = 0;  ///< computing for a hop
  std::uint64_t seed = 1;
};

/// Walkers that hop from rank to random rank, one message a hop: the AP model at its worst. The
/// answer is a hash over all hops.
std::unique_ptr<DetectorProgram> makeWalks(tributary::Transport& transport,
                                           const std::string& detector,
                                           const tributary::DetectorOptions& detection,
                                           const WalkOptions& options);

/// A diffusing process (Kocalar, Khokhar and Hambrusch 1999, section 3): the last rank is active
/// and sends requests to the others, which are passive otherwise.
struct DiffusionOptions {
  int rounds = 1;  ///< requests to each of the others
  /// Time between two requests, such that each receiver reports separately. 0: all are sent at
  /// once, and ranks with more nodes of the tree serve longer, so that reports are combined.
  double gapSeconds = 0;
  int arity = 2;  ///< of the tree
};

std::unique_ptr<DetectorProgram> makeDiffusion(tributary::Transport& transport,
                                               const std::string& detector,
                                               const tributary::DetectorOptions& detection,
                                               const DiffusionOptions& options);

}  // namespace bench
