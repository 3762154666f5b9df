// Computes models for random_models.py: random_models_answers
//
// Each line of stdin is a path P. P.onnx is a model, and P.in has the elements of its inputs (P.json: their names and
// numbers of elements) as float32. A child process answers, so that a crash is an answer, too: it writes P.out, a line of
// JSON with the results or the problems, for the network as it is converted and for that of --no-fold. Then the parent
// prints a line: "done", or how the child ended.
#include "answers.hpp"

#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace {

using nlohmann::json;

constexpr unsigned limit = 20;  // seconds for a model

const char* name_of(dice::tensor::number n) {
  using dice::tensor::number;
  return n == number::int64     ? "int64"
         : n == number::int32   ? "int32"
         : n == number::uint8   ? "uint8"
         : n == number::boolean ? "bool"
                                : "float32";
}

json described(const random_models::answer& a, std::ostream& numbers) {
  json out{{"problems", json::array()}, {"results", json::array()}};
  for (const auto& p : a.problems)
    out["problems"].push_back({{"operator", p.operator_name}, {"reason", p.reason}, {"remedy", p.remedy}, {"node", p.node}});
  for (const auto& r : a.results) {
    out["results"].push_back({{"name", r.name},
                              {"type", name_of(r.type)},
                              {"shape", std::vector<std::int64_t>(r.extents.dim, r.extents.dim + r.extents.rank)},
                              {"elements", r.values.size()}});
    numbers.write(reinterpret_cast<const char*>(r.values.data()), static_cast<std::streamsize>(r.values.size() * 4));
  }
  return out;
}

void answer(const std::string& path) {
  std::map<std::string, std::vector<float>> inputs;
  std::ifstream data(path + ".in", std::ios::binary);
  const auto sizes = json::parse(std::ifstream(path + ".json"));
  for (const auto& [name, elements] : sizes.items()) {
    auto& values = inputs[name];
    values.resize(elements);
    data.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
  }
  json out;
  std::ofstream numbers(path + ".numbers", std::ios::binary);
  for (const bool fold : {true, false}) try {
      out[fold ? "folded" : "plain"] = described(random_models::answer_of(path + ".onnx", inputs, fold), numbers);
    } catch (const std::exception& e) {
      out[fold ? "folded" : "plain"] = {{"thrown", e.what()}};
    }
  std::ofstream(path + ".out") << out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string run(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(limit);
    answer(path);
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return "no process could be started";
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "done" : "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

int main() {
  for (std::string path; std::getline(std::cin, path);) std::cout << run(path) << std::endl;
}
