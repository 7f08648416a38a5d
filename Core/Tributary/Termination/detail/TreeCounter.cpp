// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/TreeCounter.h"

#include "Tributary/Termination/detail/DetectorFactory.h"
#include "Tributary/Termination/detail/TreeReports.h"

namespace tributary::detail {

namespace {

const DetectorTraits& treeCounterTraits() {
  static const DetectorTraits traits = {"tree-counter",
                                        WorkModel::AP,
                                        false,
                                        "all ranks are passive and no work message is in flight",
                                        "O(P + m), each of O(P) bytes",
                                        "O(P log P): log P reports of O(P) bytes",
                                        1};
  return traits;
}

class TreeCounter : public TreeReports {
 public:
  TreeCounter(Transport& transport, Session session, const DetectorOptions& options)
      : TreeReports(treeCounterTraits(), transport, session, options,
                    static_cast<std::size_t>(transport.size())) {}

  void sent(int destination) override { count(static_cast<std::size_t>(destination), 1); }
  void received(int) override { count(static_cast<std::size_t>(rank()), -1); }
};

}  // namespace

DetectorType treeCounterDetector() {
  return detectorType<TreeCounter>(treeCounterTraits());
}

}  // namespace tributary::detail
