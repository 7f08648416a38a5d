#include "Tributary/Exchange/Exchange.h"

#include <algorithm>
#include <map>
#include <utility>

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/Exchange/Schedule.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {

namespace {

// Notices are rare, and looking for one costs as much as looking for work.
constexpr double NoticeSeconds = 500e-6;

// A stall report names so many ranks in full; more would not be read.
constexpr std::size_t ReportedRanks = 16;

std::string argumentError(const Transport& transport, const Assignment& assignment,
                          const std::vector<std::vector<BlockId>>& links,
                          const ExchangeOptions& options, const Step& step) {
  if (!step) return "exchange: there is no callback";
  if (assignment.ranks() != transport.size()) {
    return "exchange: the assignment is for " + std::to_string(assignment.ranks()) +
           " ranks, the transport has " + std::to_string(transport.size());
  }
  const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
  if (links.size() != count) {
    return "exchange: links of " + std::to_string(links.size()) + " blocks given for " +
           std::to_string(count) + " local blocks";
  }
  for (const auto& blocks : links) {
    for (const BlockId block : blocks) {
      if (!assignment.exists(block)) {
        return "exchange: a link leads to block " + std::to_string(block) +
               ", but blocks are numbered from 0 to " + std::to_string(assignment.total() - 1);
      }
    }
  }
  if (!(options.arrivals >= 0 && options.arrivals <= 1)) {
    return "exchange: arrivals is " + std::to_string(options.arrivals) +
           ", but must be between 0 and 1";
  }
  if (options.batchBytes == 0) return "exchange: batchBytes must be at least 1";
  if (!(options.holdSeconds >= 0)) return "exchange: holdSeconds must not be negative";
  if (!(options.stallSeconds >= 0)) return "exchange: stallSeconds must not be negative";
  DetectorOptions detection = options.detection;
  // Ranks that were passive send remarks on rounds.
  if (options.schedule == Schedule::Neighborhood) detection.work = WorkModel::AP;
  try {
    checkDetector(options.detector, detection);
  } catch (const Error& error) {
    return std::string("exchange: ") + error.what();
  }
  return {};
}

/// Throws on all ranks if an argument is wrong on one, or if schedules or detectors differ, under
/// which ranks would wait for each other for ever. One reduction, as an exchange may be short.
void agreeOnArguments(Transport& transport, const std::string& error,
                      const ExchangeOptions& options) {
  std::string detector;
  std::vector<std::int64_t> mine(5, 0);
  if (error.empty()) {
    detector = checkDetector(options.detector, options.detection).name;
    std::int64_t hash = 0;
    for (const char letter : detector) hash = hash * 31 % 1000003 + letter;
    mine = {static_cast<std::int64_t>(options.schedule), hash, options.detection.arity,
            options.detection.controlLevel, options.detection.initiators};
  }
  // The largest is the least negated.
  for (std::size_t i = 0; i < 5; ++i) mine.push_back(-mine[i]);
  mine.push_back(error.empty() ? 0 : -1);
  const auto least = allreduce(transport, ReduceOp::Min, mine);
  if (least.back() < 0) agreeOnError(transport, error);
  if (std::equal(least.begin(), least.begin() + 5, least.begin() + 5,
                 [](std::int64_t low, std::int64_t high) { return low == -high; })) {
    return;
  }
  throw Error(
      "exchange: ranks were given different schedules, detectors or detectors' parameters; this "
      "rank has the detector '" +
      detector + "' (does TRIBUTARY_DETECTOR differ among ranks?)");
}

}  // namespace

/// Runs a schedule, and beside it what needs no schedule: abort, errors, the watch for stalls, and
/// a closing agreement. An abort or error is told to all ranks by eager notices, outside of the
/// detector's sight; every rank that knows of one calls no block any more and drops all messages,
/// so the schedule comes to its normal end by itself. Then an all-reduce adds up the notices that
/// were sent, and each rank leaves when it has received that many: all know the same outcome, and
/// nothing of this exchange is left in the transport.
class Exchange::Engine {
 public:
  Engine(Transport& transport, Assignment&& assignment, std::vector<std::vector<BlockId>>&& links,
         ExchangeOptions&& options, Step&& step)
      : transport_(transport),
        assignment_(std::move(assignment)),
        links_(std::move(links)),
        options_(std::move(options)),
        step_(std::move(step)),
        begin_(transport.now()),
        progressAt_(begin_) {
    agreeOnArguments(transport_, argumentError(transport_, assignment_, links_, options_, step_),
                     options_);
    session_ = transport_.openSession();
    // A rank that was taken for stalled says that it moves before a call that may last long.
    step_ = [this, step = std::move(step_)](BlockId block, Mailbox& mailbox) {
      if (stalledHere_) tellStall(false);
      return step(block, mailbox);
    };
    const ScheduleInputs inputs{
        transport_, session_, assignment_, links_,
        options_,   step_,    statistics_, [this](const std::string& text) { fail(text); }};
    switch (options_.schedule) {
      case Schedule::Synchronous:
        schedule_ = makeSynchronous(inputs);
        break;
      case Schedule::Neighborhood:
        schedule_ = makeNeighborhood(inputs);
        break;
      case Schedule::Asynchronous:
        schedule_ = makeAsynchronous(inputs);
        break;
    }
    stalledRanks_.resize(static_cast<std::size_t>(transport_.rank() == 0 ? transport_.size() : 0));
  }

  bool advance() {
    switch (phase_) {
      case Phase::Running:
        if (abortAsked_) {
          abortAsked_ = false;
          stop(Notice::Abort, abortWhy_);
        }
        if (schedule_->advance()) {
          closing_ = transport_.allreduce(ReduceOp::Sum, {stopSent_ ? 1 : 0, stallNotices_});
          phase_ = Phase::Closing;
          return false;
        }
        watch();
        return false;
      case Phase::Closing:
        transport_.poll();
        if (!closing_.done()) return false;
        stopsExpected_ = closing_.result()[0] - (stopSent_ ? 1 : 0);
        stallsExpected_ = transport_.rank() == 0 ? closing_.result()[1] : 0;
        phase_ = Phase::Collecting;
        [[fallthrough]];
      case Phase::Collecting:
        if (stopsReceived_ < stopsExpected_ || stallsReceived_ < stallsExpected_) {
          receiveNotices();
          if (stopsReceived_ < stopsExpected_ || stallsReceived_ < stallsExpected_) return false;
        }
        phase_ = Phase::Ended;
        end();
        return true;
      case Phase::Ended:
        break;
    }
    return true;
  }

  bool busy() const { return schedule_->busy() && phase_ == Phase::Running; }
  Transport& transport() { return transport_; }

  void abort(const std::string& why) {
    if (abortAsked_) return;
    abortAsked_ = true;
    abortWhy_ = why;
  }

  /// An error of this rank.
  void fail(const std::string& text) { stop(Notice::Error, text); }

  bool aborted() const { return stopped_ || (abortAsked_ && phase_ == Phase::Running); }
  const std::string& reason() const { return reason_; }
  const ExchangeStatistics& statistics() const { return statistics_; }

 private:
  enum class Phase { Running, Closing, Collecting, Ended };
  enum class Notice : std::int32_t { Abort, Error, Stalled, Moving };
  struct Stop {
    Notice notice;
    std::string text;
  };
  struct Stalled {
    bool stalled = false;
    std::string report;
  };

  void send(int destination, Notice notice, const std::string& text) {
    transport_.send(destination, Channel::Control, session_, SendMode::Eager,
                    Writer().value(notice).text(text).take());
  }

  void stop(Notice notice, const std::string& text) {
    if (!stopSent_ && phase_ == Phase::Running) {
      stopSent_ = true;
      stops_[transport_.rank()] = {notice, text};
      for (int rank = 0; rank < transport_.size(); ++rank) {
        if (rank != transport_.rank()) send(rank, notice, text);
      }
    }
    obey();
  }

  void obey() {
    if (stopped_) return;
    stopped_ = true;
    if (schedule_) schedule_->stop();
  }

  void receiveNotices() {
    while (auto envelope = transport_.tryReceive(Channel::Control, session_)) {
      Reader reader(envelope->bytes);
      const auto notice = reader.value<Notice>();
      const std::string text = reader.text();
      if (notice == Notice::Abort || notice == Notice::Error) {
        ++stopsReceived_;
        stops_[envelope->source] = {notice, text};
        obey();
      } else if (!stalledRanks_.empty()) {
        ++stallsReceived_;
        stalledRanks_[static_cast<std::size_t>(envelope->source)] = {notice == Notice::Stalled,
                                                                     text};
      }
    }
  }

  /// Looks for notices now and then, and for the lack of progress.
  void watch() {
    const double now = schedule_->clock();
    if (now >= noticesAt_) {
      noticesAt_ = now + NoticeSeconds;
      receiveNotices();
      if (stalledHere_ && !stopped_) reportStall();
    }
    if (options_.stallSeconds <= 0 || stopped_) return;
    if (schedule_->progress() != progress_) {
      progress_ = schedule_->progress();
      progressAt_ = now;
      if (stalledHere_) tellStall(false);
    } else if (!stalledHere_ && now - progressAt_ >= options_.stallSeconds) {
      tellStall(true);
    }
  }

  void tellStall(bool stalled) {
    stalledHere_ = stalled;
    const std::string report = stalled ? schedule_->describe() : std::string();
    if (transport_.rank() == 0) {
      stalledRanks_[0] = {stalled, report};
    } else {
      ++stallNotices_;
      send(0, stalled ? Notice::Stalled : Notice::Moving, report);
    }
  }

  /// Rank 0: gives up once all ranks have said that they are stalled.
  void reportStall() {
    if (stalledRanks_.empty() || !std::all_of(stalledRanks_.begin(), stalledRanks_.end(),
                                              [](const Stalled& s) { return s.stalled; })) {
      return;
    }
    std::string text =
        "exchange stalled: no progress on any rank for " + std::to_string(options_.stallSeconds) +
        " s. A callback waits for a message that nobody sends, or leaves messages unread.";
    for (std::size_t rank = 0; rank < stalledRanks_.size() && rank < ReportedRanks; ++rank) {
      text += "\n  rank " + std::to_string(rank) + ": " + stalledRanks_[rank].report;
    }
    if (stalledRanks_.size() > ReportedRanks) {
      text += "\n  and " + std::to_string(stalledRanks_.size() - ReportedRanks) + " more ranks";
    }
    fail(text);
  }

  void end() {
    statistics_.totalSeconds = transport_.now() - begin_;
    stopped_ = !stops_.empty();
    if (!stopped_) return;
    const int self = transport_.rank();
    const auto own = stops_.find(self);
    if (own != stops_.end() && own->second.notice == Notice::Error) {
      reason_ = own->second.text;
      throw Error(reason_);
    }
    for (const auto& [rank, stop] : stops_) {
      if (stop.notice != Notice::Error) continue;
      reason_ = "rank " + std::to_string(rank) + ": " + stop.text;
      throw Error(reason_);
    }
    reason_ = stops_.begin()->second.text;
  }

  Transport& transport_;
  Assignment assignment_;
  std::vector<std::vector<BlockId>> links_;
  ExchangeOptions options_;
  Step step_;
  ExchangeStatistics statistics_;
  Session session_ = 0;
  std::unique_ptr<ScheduleMachine> schedule_;
  Phase phase_ = Phase::Running;
  PendingReduce closing_;

  bool abortAsked_ = false;
  std::string abortWhy_;
  bool stopped_ = false;   // this rank knows of an abort or error
  bool stopSent_ = false;  // and told the others of its own
  std::map<int, Stop> stops_;
  std::int64_t stopsReceived_ = 0;
  std::int64_t stopsExpected_ = 0;
  std::string reason_;

  double begin_;
  double noticesAt_ = 0;
  std::int64_t progress_ = 0;
  double progressAt_;
  bool stalledHere_ = false;
  std::int64_t stallNotices_ = 0;      // sent to rank 0
  std::vector<Stalled> stalledRanks_;  // on rank 0 only
  std::int64_t stallsReceived_ = 0;
  std::int64_t stallsExpected_ = 0;
};

Exchange::Exchange(Transport& transport, Assignment assignment,
                   std::vector<std::vector<BlockId>> links, ExchangeOptions options, Step step)
    : engine_(std::make_unique<Engine>(transport, std::move(assignment), std::move(links),
                                       std::move(options), std::move(step))) {}

Exchange::~Exchange() = default;

bool Exchange::advance() {
  return engine_->advance();
}

void Exchange::run(const std::function<bool()>& monitor) {
  Patience patience;
  bool watching = static_cast<bool>(monitor);
  std::string error;
  const auto fail = [&](const std::string& text) {
    error = text;
    engine_->fail(text);
    watching = false;
  };
  while (!engine_->advance()) {
    if (watching) {
      try {
        if (!monitor()) {
          engine_->abort("aborted by the monitor");
          watching = false;
        }
      } catch (const std::exception& thrown) {
        fail(thrown.what());
      } catch (...) {
        fail("the monitor threw an exception that is not a std::exception");
      }
    }
    if (engine_->busy()) {
      patience.reset();
    } else {
      patience.rest(engine_->transport());
    }
  }
  // Thrown too late to be told to the others: the exchange had ended well.
  if (!error.empty()) throw Error(error);
}

void Exchange::fail(const std::string& error) {
  engine_->fail(error);
}

void Exchange::abort(const std::string& why) {
  engine_->abort(why);
}

bool Exchange::aborted() const {
  return engine_->aborted();
}

const std::string& Exchange::reason() const {
  return engine_->reason();
}

const ExchangeStatistics& Exchange::statistics() const {
  return engine_->statistics();
}

}  // namespace tributary
