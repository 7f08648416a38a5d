// SPDX-License-Identifier: BSD-3-Clause
#include "Programs.h"

#include <algorithm>
#include <utility>

namespace tributary::schedules {

namespace {

/// Steele, Lea and Flood's SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (x ^ (x >> 31)) % bound;
  }
  int rank(int ranks) { return static_cast<int>(below(static_cast<std::uint64_t>(ranks))); }

 private:
  std::uint64_t state_;
};

std::vector<Program> smallAp() {
  std::vector<Program> programs;
  // Item 0 does nothing; others send the item named after "->".
  programs.push_back({"nothing to do, twice", WorkModel::AP, 2, {{}}, {{{}, {}}, {{}, {}}}});
  programs.push_back(
      {"there and back", WorkModel::AP, 2, {{}, {{{1, 2}}}, {{{0, 0}}}}, {{{1}, {}}}});
  programs.push_back({"there and back, done on receipt",
                      WorkModel::AP,
                      2,
                      {{}, {{{1, 2}}}, {{{0, 0}}}},
                      {{{1}, {}}},
                      true});
  programs.push_back(
      {"to itself, then away", WorkModel::AP, 2, {{}, {{{0, 2}}}, {{{1, 0}}}}, {{{1}, {}}}});
  programs.push_back({"one message, two detections",
                      WorkModel::AP,
                      2,
                      {{}, {{{1, 0}}}, {{{0, 0}}}},
                      {{{1}, {}}, {{}, {2}}}});
  programs.push_back({"chain of re-activation on 3 ranks",
                      WorkModel::AP,
                      3,
                      {{}, {{{2, 2}}}, {{{1, 3}}}, {{{0, 0}}}},
                      {{{1}, {}, {}}}});
  programs.push_back({"chain on 3 ranks, done on receipt",
                      WorkModel::AP,
                      3,
                      {{}, {{{2, 2}}}, {{{1, 3}}}, {{{0, 0}}}},
                      {{{1}, {}, {}}},
                      true});
  programs.push_back({"two messages that cross on 3 ranks",
                      WorkModel::AP,
                      3,
                      {{}, {{{2, 2}}}, {{{1, 0}}}, {{{2, 0}}}},
                      {{{1}, {3}, {}}}});
  programs.push_back({"to and fro twice, slowly",
                      WorkModel::AP,
                      2,
                      {{}, {{{1, 2}}, 2}, {{{0, 3}}, 2}, {{{1, 4}}, 2}, {{{0, 0}}, 2}},
                      {{{1}, {}}}});
  programs.push_back({"two waves of work through 3 ranks",
                      WorkModel::AP,
                      3,
                      {{}, {{{1, 2}, {2, 0}}}, {{{2, 3}}}, {{{0, 4}}}, {{{1, 0}, {0, 0}}}},
                      {{{1}, {}, {}}},
                      false,
                      true});
  programs.push_back({"two chains on 3 ranks, two detections",
                      WorkModel::AP,
                      3,
                      {{}, {{{1, 2}}}, {{{0, 0}}}, {{{2, 4}}}, {{{1, 0}}}},
                      {{{1}, {3}, {}}, {{}, {}, {2}}}});
  programs.push_back({"an echo and a cry on 3 ranks",
                      WorkModel::AP,
                      3,
                      {{}, {{{1, 2}}}, {{{2, 0}, {0, 0}}}},
                      {{{}, {}, {1}}}});
  programs.push_back({"chain of re-activation on 4 ranks",
                      WorkModel::AP,
                      4,
                      {{}, {{{3, 2}}}, {{{1, 3}}}, {{{2, 4}}}, {{{0, 0}}}},
                      {{{1}, {}, {}, {}}},
                      false,
                      true});
  programs.push_back({"two messages that cross on 4 ranks",
                      WorkModel::AP,
                      4,
                      {{}, {{{3, 2}}}, {{{1, 0}}}, {{{3, 0}}}},
                      {{{1}, {}, {3}, {}}},
                      false,
                      true});
  return programs;
}

std::vector<Program> smallAps() {
  std::vector<Program> programs;
  programs.push_back({"a request with an answer",
                      WorkModel::APS,
                      2,
                      {{}, {{{1, 2}}, 1, 1}, {{{0, 0, true}}}},
                      {{{1}, {}}}});
  programs.push_back({"requests both ways, two detections",
                      WorkModel::APS,
                      2,
                      {{}, {{{1, 0}}}, {{{0, 0}}}},
                      {{{1}, {2}}, {{1}, {}}}});
  programs.push_back({"two requests to a busy rank on 3 ranks",
                      WorkModel::APS,
                      3,
                      {{}, {{{2, 0}}}, {{{2, 0}}, 1}, {{}, 2}},
                      {{{1}, {2}, {3}}}});
  programs.push_back(
      {"answers for 3 of 4 ranks",
       WorkModel::APS,
       4,
       {{}, {{{3, 2}}, 1, 1}, {{{0, 0, true}}}, {{{3, 4}}, 1, 1}, {{{1, 0, true}}}, {{{3, 0}}}},
       {{{1}, {3}, {5}, {}}},
       false,
       true});
  return programs;
}

std::vector<Program> smallMonotone() {
  std::vector<Program> programs;
  programs.push_back({"notes both ways",
                      WorkModel::Monotone,
                      2,
                      {{}, {{{1, 0}}}, {{{0, 0}}}},
                      {{{1}, {2}}},
                      true});
  programs.push_back({"notes on 3 ranks, two detections",
                      WorkModel::Monotone,
                      3,
                      {{}, {{{2, 0}}}, {{{2, 0}, {1, 0}}}},
                      {{{1}, {2}, {}}, {{}, {1}, {}}},
                      true});
  programs.push_back({"notes on 4 ranks",
                      WorkModel::Monotone,
                      4,
                      {{}, {{{3, 0}, {1, 0}}}, {{{3, 0}}}, {{{0, 0}}, 2}},
                      {{{1}, {2}, {}, {3}}},
                      true,
                      true});
  return programs;
}

}  // namespace

std::vector<Program> smallPrograms(WorkModel model) {
  switch (model) {
    case WorkModel::AP:
      return smallAp();
    case WorkModel::APS:
      return smallAps();
    case WorkModel::Monotone:
      break;
  }
  return smallMonotone();
}

Program randomProgram(WorkModel model, std::uint64_t seed, int mostRanks) {
  Random random(seed);
  Program program;
  program.name = "random program " + std::to_string(seed);
  program.model = model;
  program.ranks = 1 + random.rank(mostRanks);
  program.atOnce = model == WorkModel::Monotone || random.below(4) == 0;
  program.begin.assign(2, std::vector<std::vector<int>>(static_cast<std::size_t>(program.ranks)));
  program.items.emplace_back();
  if (model == WorkModel::AP) {
    // An item sends such of lower numbers, so that the work comes to an end.
    const std::uint64_t items = 2 + random.below(8);
    for (std::uint64_t i = 1; i < items; ++i) {
      Item item;
      item.steps = 1 + static_cast<int>(random.below(3));
      for (std::uint64_t sends = random.below(3); sends > 0; --sends) {
        item.sends.push_back({random.rank(program.ranks), static_cast<int>(random.below(i))});
      }
      program.items.push_back(std::move(item));
    }
    for (auto& detection : program.begin) {
      for (std::uint64_t pieces = random.below(4); pieces > 0; --pieces) {
        detection[static_cast<std::size_t>(random.rank(program.ranks))].push_back(
            static_cast<int>(random.below(items)));
      }
    }
    return program;
  }
  // Each rank's own work sends requests (or notes), some of which are answered.
  for (auto& detection : program.begin) {
    for (int rank = 0; rank < program.ranks; ++rank) {
      for (std::uint64_t pieces = random.below(3); pieces > 0; --pieces) {
        Item item;
        item.steps = 1 + static_cast<int>(random.below(3));
        for (std::uint64_t sends = random.below(3); sends > 0; --sends) {
          const bool answered = model == WorkModel::APS && random.below(2) == 0;
          Item service;
          service.steps = 1 + static_cast<int>(random.below(2));
          if (answered) {
            service.sends.push_back({rank, 0, true});
            ++item.answers;
          }
          const int number = model == WorkModel::Monotone ? 0 : int(program.items.size());
          if (number > 0) program.items.push_back(std::move(service));
          item.sends.push_back({random.rank(program.ranks), number});
        }
        detection[static_cast<std::size_t>(rank)].push_back(int(program.items.size()));
        program.items.push_back(std::move(item));
      }
    }
  }
  return program;
}

}  // namespace tributary::schedules
