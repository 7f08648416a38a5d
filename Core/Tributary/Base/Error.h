// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace tributary {

/// The cause of an Error, by what a caller can do about it.
enum class ErrorKind {
  Input,    ///< an argument, a file or a data set is invalid: correct it and call again
  Message,  ///< a message is malformed: the ranks run different programs, or one has a defect
  Memory,   ///< a rank has no memory for its data or for a message: use more ranks or smaller data
  Mpi,      ///< a function of MPI failed: see MpiError
  Stall,    ///< no rank made progress within the time limit
  Internal  ///< a defect of this library, or an exception of another one
};

/// The base class of all exceptions of the library. The text names the problem and its cure and can
/// be shown to a user unchanged. An Error is thrown on the rank that detects the problem;
/// collective operations agree on it (see agreeOnError()) and then throw it on all ranks.
class Error : public std::runtime_error {
 public:
  /// @param kind  Default: ErrorKind::Input.
  explicit Error(const std::string& text) : std::runtime_error(text) {}
  explicit Error(const char* text) : std::runtime_error(text) {}
  Error(ErrorKind kind, const std::string& text, std::optional<int> rank = std::nullopt)
      : std::runtime_error(text), kind_(kind), rank_(rank) {}

  ErrorKind kind() const noexcept { return kind_; }
  /// The rank that detected the problem, if it is known. It is known on all ranks after
  /// agreeOnError().
  std::optional<int> rank() const noexcept { return rank_; }

 private:
  ErrorKind kind_ = ErrorKind::Input;
  std::optional<int> rank_;
};

/// A function of MPI failed. This header does not need MPI: codes are plain integers.
class MpiError : public Error {
 public:
  /// @param function  its name, for instance "MPI_Isend"
  /// @param code  its result; differs between implementations of MPI
  /// @param errorClass  the standard error class of the code, for instance MPI_ERR_TRUNCATE
  MpiError(const std::string& text, const std::string& function, int code, int errorClass,
           std::optional<int> rank = std::nullopt)
      : Error(ErrorKind::Mpi, text, rank),
        function_(std::make_shared<const std::string>(function)),
        code_(code),
        errorClass_(errorClass) {}

  /// Empty, like the codes 0, on the other ranks of an exchange, which learn the kind and text
  /// only.
  const std::string& function() const noexcept { return *function_; }
  int code() const noexcept { return code_; }
  int errorClass() const noexcept { return errorClass_; }

 private:
  std::shared_ptr<const std::string> function_;  // copies of an exception must not throw
  int code_;
  int errorClass_;
};

}  // namespace tributary
