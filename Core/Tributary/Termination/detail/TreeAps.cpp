// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/TreeAps.h"

#include "Tributary/Termination/detail/DetectorFactory.h"
#include "Tributary/Termination/detail/TreeReports.h"

namespace tributary::detail {

namespace {

const DetectorTraits& treeApsTraits() {
  static const DetectorTraits traits = {
      "tree-aps", WorkModel::APS, false, "all ranks are passive and no work message is in flight",
      "O(P + m)", "O(log P)",     1};
  return traits;
}

class TreeAps : public TreeReports {
 public:
  TreeAps(Transport& transport, Session session, const DetectorOptions& options)
      : TreeReports(treeApsTraits(), transport, session, options, 1) {}

  void sent(int) override { count(0, 1); }
  void received(int) override { count(0, -1); }
};

}  // namespace

DetectorType treeApsDetector() {
  return detectorType<TreeAps>(treeApsTraits());
}

}  // namespace tributary::detail
