// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "Tributary/Iteration/NonBlockingReduce.h"

namespace tributary {

namespace {

class TransportReduce : public NonBlockingReduce {
 public:
  explicit TransportReduce(Transport& transport) : transport_(transport) {}

  void start(ReduceOp op, std::vector<std::int64_t> values) override {
    pending_ = transport_.allreduce(op, std::move(values));
  }
  bool advance() override {
    if (!pending_.done()) transport_.poll();
    return pending_.done();
  }
  const std::vector<std::int64_t>& result() const override { return pending_.result(); }
  std::string state() const override { return pending_.done() ? "idle" : "reducing"; }

 private:
  Transport& transport_;
  PendingReduce pending_;
};

}  // namespace

std::unique_ptr<NonBlockingReduce> makeTransportReduce(Transport& transport) {
  return std::make_unique<TransportReduce>(transport);
}

}  // namespace tributary
