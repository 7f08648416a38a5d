// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Programs.h"
#include "Scenario.h"
#include "Tributary/Termination/Detector.h"

namespace tributary::schedules {

/// A detector to be tested: a production one, or a mutant.
struct Subject {
  std::string name;
  DetectorType type;
  DetectorOptions options;
  /// Eager although the detector asks for synchronous sends.
  bool eagerOnly = false;
};

/// The production detectors that are right for `model`, with parameters that change what they do.
std::vector<Subject> subjects(WorkModel model);

/// A program's ranks with their detectors on a network, step by step, and what must hold after
/// every step:
/// - no detector fires while a rank of its detection has work or a message is in flight (for a
///   monotone detector: to its own rank), nor before it has fired on all ranks for the detection
///   before;
/// - since the moment at which all turned passive for good, no more passes are completed than the
///   detector's traits allow;
/// - all ranks count the same number of passes at the end of a detection.
class Run : public Explorable {
 public:
  Run(const Subject& subject, const Program& program, SimulatedNetwork& network);

  /// A turn of a rank in halves: first it receives and works; then, at once if there was nothing,
  /// it polls and gives its detector a turn. Between the halves others may act, as they do on a
  /// real machine. @return true at its end. Throws Violation.
  bool step(Transport& transport) override;

  /// What must hold when all ranks have ended: nothing is left. Throws Violation.
  void checkEnd() const override;

  /// Everything but the network that decides what happens from now on, as bytes.
  void appendState(std::string& state) const override;
  /// All ranks that have not seen the end of the current detection are passive, and none of its
  /// messages is in flight.
  bool quiet() const override { return quiet_; }
  /// Number of detections that ended on all ranks.
  std::size_t stage() const override { return slowest_; }
  bool ended() const { return slowest_ == program_.begin.size(); }

  /// For people.
  std::string describe(int rank) const override;

 private:
  struct Working {
    int item;
    int steps;  // left
  };
  struct Rank {
    std::unique_ptr<Detector> detector;
    std::size_t detection = 0;  // that is under way here
    std::vector<Working> work;
    std::vector<PendingSend> sends;
    int answers = 0;  // waited for
    bool passive = false;
    bool touched = false;
    bool worked = false;  // the first half of a turn is done
  };

  /// Messages of a detection are kept apart from those of the others.
  static Session sessionOf(const Rank& rank) { return static_cast<Session>(rank.detection) + 1; }
  void begin(Rank& rank, int number);
  bool work(Rank& rank, Transport& transport);
  void execute(Rank& rank, Transport& transport);
  void fired(int number);
  std::int64_t inFlight() const;
  void update();
  [[noreturn]] void violated(int rank, const std::string& what) const;

  const Subject& subject_;
  const Program& program_;
  SimulatedNetwork& network_;
  SendMode mode_;
  std::vector<Rank> ranks_;
  std::vector<std::vector<std::int64_t>> inFlight_;  // by detection and destination
  std::size_t slowest_ = 0;                          // the lowest detection under way
  bool quiet_ = false;
  std::int64_t wavesAtQuiet_ = 0;
  std::optional<std::int64_t> wavesAtEnd_;  // of the lowest detection under way, where it has ended
};

/// A detector under a program; both outlive the scenario.
Scenario scenarioOf(const Subject& subject, const Program& program);

}  // namespace tributary::schedules
