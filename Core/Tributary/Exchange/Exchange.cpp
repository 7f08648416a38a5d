// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/Exchange.h"

#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Exchange/detail/ExchangeArguments.h"
#include "Tributary/Exchange/detail/Notices.h"
#include "Tributary/Exchange/detail/ScheduleMachine.h"
#include "Tributary/Exchange/detail/StallWatch.h"
#include "Tributary/Exchange/detail/Stop.h"

namespace tributary {

using namespace detail;

namespace {

// Notices are rare, and a test for a notice costs as much as a test for a batch.
constexpr double NoticeSeconds = 500e-6;

}  // namespace

/// Runs a schedule, and handles aborts, errors, stalls and the common end independently of it.
///
/// A rank that knows of an abort or error (see Stop) makes no more calls and drops all messages. If
/// the detector uses point-to-point messages, the rank leaves the schedule at once, so no defect of
/// a message or of the detector can keep a rank from leaving. Messages in flight then stay in the
/// transport, in the session of this exchange. If the detector uses collective operations, which
/// all ranks must complete, the schedule continues to its normal end.
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
        session_(agreedSession()),
        notices_(transport, session_),
        stop_(transport, notices_),
        stalls_(transport, notices_, options_.stallTimeout) {
    // A rank that has reported a stall withdraws the report before a call that may last long.
    step_ = [this, step = std::move(step_)](BlockId block, Mailbox& mailbox) {
      stalls_.moves();
      return step(block, mailbox);
    };
    const ScheduleInputs inputs{
        transport_, session_, assignment_, links_,
        options_,   step_,    statistics_, [this](const ErrorReport& report) { fail(report); }};
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
  }

  bool advance() {
    switch (phase_) {
      case Phase::Running:
        if (turn()) {
          stop_.close();
          phase_ = Phase::Closing;
        }
        return false;
      case Phase::Closing:
        transport_.poll();
        receiveNotices();
        if (!stop_.closed()) return false;
        phase_ = Phase::Ended;
        end();
        return true;
      case Phase::Ended:
        break;
    }
    return true;
  }

  bool running() const { return phase_ == Phase::Running; }
  bool busy() const { return running() && (schedule_->busy() || obeyed_); }
  Transport& transport() { return transport_; }

  void abort(const std::string& why) {
    if (abortAsked_) return;
    abortAsked_ = true;
    abortWhy_ = why;
  }

  /// An error of this rank.
  void fail(const ErrorReport& report) {
    stop_.stop(Stop::Kind::Error, report);
    obey();
  }
  void fail(const std::string& text, ErrorKind kind) { fail(reportOf(text, kind)); }

  bool aborted() const {
    return phase_ == Phase::Ended ? stop_.outcome() != Stop::Kind::None
                                  : stop_.known() || (abortAsked_ && running());
  }
  const std::string& reason() const { return stop_.reason().text; }
  const ExchangeStatistics& statistics() const { return statistics_; }

 private:
  enum class Phase { Running, Closing, Ended };

  static ErrorReport reportOf(const std::string& text, ErrorKind kind) {
    ErrorReport report;
    report.text = text;
    report.kind = kind;
    return report;
  }

  Session agreedSession() {
    checkExchangeArguments(transport_, assignment_, links_, options_, step_);
    return transport_.openSession();
  }

  /// @return whether this rank is done with the schedule
  bool turn() {
    obeyed_ = false;
    if (std::exchange(abortAsked_, false)) {
      stop_.stop(Stop::Kind::Abort, reportOf(abortWhy_, ErrorKind::Input));
      obey();
    }
    if (stop_.known() && schedule_->mayLeave()) return true;
    try {
      if (schedule_->advance()) return true;
    } catch (...) {
      // After a second error the schedule cannot reach its end: throw on this rank alone.
      if (std::exchange(broken_, true)) throw;
      fail(currentExceptionReport());
      return false;
    }
    watch();
    return false;
  }

  void obey() {
    obeyed_ = true;
    if (schedule_) schedule_->stop();
  }

  void receiveNotices() {
    while (const auto notice = notices_.receive()) {
      switch (notice->kind) {
        case Notice::Kind::Unreadable:
          fail(notice->text, ErrorKind::Message);
          stop_.receive(*notice);
          break;
        case Notice::Kind::Stop:
        case Notice::Kind::Reason:
          stop_.receive(*notice);
          obey();
          break;
        case Notice::Kind::Stalled:
        case Notice::Kind::Moving:
          stalls_.receive(*notice);
          break;
      }
    }
  }

  /// Receives notices at intervals, and checks for progress.
  void watch() {
    const double now = schedule_->clock();
    if (now >= noticesAt_) {
      noticesAt_ = now + NoticeSeconds;
      receiveNotices();
      const std::string report = stalls_.report();
      if (!report.empty() && !stop_.known()) fail(report, ErrorKind::Stall);
    }
    if (!stop_.known() && stalls_.look(now, schedule_->progress())) {
      stalls_.stalled(schedule_->describe());
    }
  }

  void end() {
    statistics_.totalSeconds = transport_.now() - begin_;
    if (stop_.outcome() == Stop::Kind::Error) throwError(stop_.reason());
  }

  Transport& transport_;
  Assignment assignment_;
  std::vector<std::vector<BlockId>> links_;
  ExchangeOptions options_;
  Step step_;
  ExchangeStatistics statistics_;
  double begin_;
  Session session_;
  Notices notices_;
  Stop stop_;
  StallWatch stalls_;
  std::unique_ptr<ScheduleMachine> schedule_;
  Phase phase_ = Phase::Running;
  bool obeyed_ = false;  // in this turn
  bool broken_ = false;  // the schedule has thrown
  bool abortAsked_ = false;
  std::string abortWhy_;
  double noticesAt_ = 0;
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
  Backoff backoff;
  bool watching = static_cast<bool>(monitor);
  const auto fail = [&](const ErrorReport& report) {
    engine_->fail(report);
    watching = false;
  };
  while (!engine_->advance()) {
    // Not while the end is agreed on: it would be too late to notify other ranks.
    if (watching && engine_->running()) {
      try {
        if (!monitor()) {
          engine_->abort("aborted by the monitor");
          watching = false;
        }
      } catch (...) {
        fail(currentExceptionReport());
      }
    }
    if (engine_->busy()) {
      backoff.reset();
    } else {
      backoff.pause(engine_->transport());
    }
  }
}

void Exchange::fail(const std::string& error) {
  engine_->fail(error, ErrorKind::Input);
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
