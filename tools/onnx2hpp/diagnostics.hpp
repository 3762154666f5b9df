// Errors and how they are reported.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace onnx2hpp {

/// One reason why a model cannot be converted or a file cannot be used. Empty members are left out of the message.
struct problem {
  std::string node{};           ///< name of the node, or of another subject of the problem
  std::string operator_name{};  ///< ONNX operator, with its domain unless that is the standard one
  int opset = 0;                ///< version of the operator's domain; 0: not known
  std::string reason{};
  std::string remedy{};
  bool explained = false;       ///< the remedy belongs to the reason alone
  bool avoidable = false;       ///< a network that ends before this point may be converted
  bool about_operator = false;  ///< what is read of the operator may explain it
};

/// All problems of a model, or of the files that go with it; `what` is the consequence for the model. Exit code 1.
struct conversion_error : std::runtime_error {
  explicit conversion_error(std::vector<problem> list, const char* what = "cannot be converted")
      : std::runtime_error(what), problems(std::move(list)) {}
  explicit conversion_error(problem one) : conversion_error(std::vector<problem>{std::move(one)}) {}
  std::vector<problem> problems;
  std::string remedy{};  ///< for all problems together
};

/// A file that cannot be read, is damaged or cannot be written; exit code 1.
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file beside the model that has its weights, and cannot be used; `what` goes on after "it should hold tensors, but".
struct unusable_file : file_error {
  unusable_file(std::string file, const std::string& reason, std::string what_to_do)
      : file_error(reason), name(std::move(file)), remedy(std::move(what_to_do)) {}
  std::string name, remedy;
};

/// A tensor that is whole, but of a kind that this tool does not read.
struct unsupported_tensor : file_error {
  using file_error::file_error;
};

/// A command line that makes no sense, by itself or for this model; exit code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown by a node's importer or folder: this node cannot be converted.
struct refusal {
  std::string reason;
  std::string remedy;
  bool about_operator = true;
};

enum class verbosity { silent, quiet, normal, verbose };

/// Messages to stderr, one line each, prefixed by `onnx2hpp: <kind>:`; text::shown escapes control characters.
class messages {
 public:
  explicit messages(verbosity level) : level_(level) {}
  void error(const std::string& text) const;
  /// Similar problems of nodes share a message, and without -v only the first few such messages are printed.
  void error(const conversion_error& e, const std::string& about) const;
  void remedy(const std::string& text) const;   ///< of the error before it
  void warning(const std::string& text) const;  ///< also with -q
  void note(const std::string& text) const;     ///< not with -q
  void detail(const std::string& text) const;   ///< only with -v

 private:
  verbosity level_;
};

/// Text from a model made safe for a terminal: quoted, control characters escaped, cut after 200 characters.
std::string quote(const std::string& text);

}  // namespace onnx2hpp
