// Files: every kind of initializer, external data, functions, damage.
#include "convert_model.hpp"
#include "run_tool.hpp"

#include "diagnostics.hpp"
#include "dice/graph/ops.hpp"

#include <cstdint>
#include <limits>
#include <random>

namespace onnx2hpp_test {
namespace {

/// y = x + c with the initializer c of two elements that `make` adds.
template <class Make> network with_constant(Make make) {
  builder b;
  b.input("x", {1, 2}).output("y");
  make(b);
  b.node("Add", {"x", "c"}, {"y"});
  return convert(b);
}

TEST(Initializers, RawAndTypedOfEveryType) {
  using T = onnx::TensorProto;
  EXPECT_EQ(written(with_constant([](builder& b) { b.floats("c", {2}, {1.5f, -2}); })), (floats{1.5f, -2}));
  EXPECT_EQ(written(with_constant([](builder& b) {
              auto& t = b.tensor("c", T::FLOAT, {2});
              t.add_float_data(1.5f);
              t.add_float_data(-2);
            })),
            (floats{1.5f, -2}));
  EXPECT_EQ(written(with_constant([](builder& b) {
              auto& t = b.tensor("c", T::DOUBLE, {2});
              t.add_double_data(0.1);
              t.add_double_data(1e300);
            })),
            (floats{0.1f, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(written(with_constant([](builder& b) {
              auto& t = b.tensor("c", T::FLOAT16, {2});
              t.add_int32_data(0x3555);
              t.add_int32_data(0x0001);
            })),
            (floats{0.333251953125f, 5.9604644775390625e-8f}));
  EXPECT_EQ(written(with_constant(
                [](builder& b) { b.tensor("c", T::FLOAT16, {2}).set_raw_data(std::string("\x00\xfc\x00\x40", 4)); })),
            (floats{-std::numeric_limits<float>::infinity(), 2}));
  EXPECT_EQ(written(with_constant(
                [](builder& b) { b.tensor("c", T::BFLOAT16, {2}).set_raw_data(std::string("\x80\x3f\x00\xc0", 4)); })),
            (floats{1, -2}));
  EXPECT_EQ(written(with_constant([](builder& b) {
              auto& t = b.tensor("c", T::INT8, {2});
              t.add_int32_data(-1);
              t.add_int32_data(127);
            })),
            (floats{-1, 127}));
  EXPECT_EQ(written(with_constant([](builder& b) { b.ints("c", {-5, 1 << 20}); })), (floats{-5, 1 << 20}));
}

TEST(Initializers, LongTypedDataIsReadFromTheFile) {
  builder b;
  b.input("x", {1, 4000}).output("y");
  auto& t = b.tensor("c", onnx::TensorProto::FLOAT, {4000});
  for (int i = 0; i < 4000; ++i) t.add_float_data(static_cast<float>(i));
  b.node("Add", {"x", "c"}, {"y"});
  const auto values = written(convert(b));
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i));
}

TEST(Initializers, ListedAsInputsOrIdentityOfAnother) {
  builder b;
  b.input("x", {1, 2}).input("c", {2}).output("y").floats("c", {2}, {1, 2});
  b.node("Identity", {"c"}, {"same"});
  b.node("Add", {"x", "same"}, {"z"});
  b.node("Mul", {"z", "c"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Add Mul");
  EXPECT_EQ(net.layers.size(), 4u);
  EXPECT_EQ(onnx2hpp::lay_out_weights(net).tensors.size(), 1u);
}

TEST(Initializers, DamageIsTold) {
  builder b;
  b.input("x", {1, 2}).output("y");
  b.tensor("c", onnx::TensorProto::FLOAT, {3}).set_raw_data("12345678");
  b.node("Add", {"x", "c"}, {"y"});
  EXPECT_NE(problems(b).find("8 bytes where its shape needs 12"), std::string::npos) << problems(b);
  builder c;
  c.input("x", {1, 2}).output("y");
  c.tensor("c", onnx::TensorProto::FLOAT, {1ll << 62, 1ll << 62}).set_raw_data("12345678");
  c.node("Add", {"x", "c"}, {"y"});
  EXPECT_NE(problems(c).find("its shape is impossible"), std::string::npos);
}

TEST(Names, GivenTwiceOrNotAtAllAreRefused) {
  const auto base = [] {
    builder b;
    b.input("x", {1, 2}).scalar("s", 1).output("y");
    b.node("Add", {"x", "s"}, {"y"}, "add");
    return b;
  };
  const std::string remedy = "; give each value its own name\n";
  const auto expect = [&](const builder& b, const std::string& reason) {
    EXPECT_EQ(problems(b), " (, opset 0): " + reason + remedy);
  };
  EXPECT_EQ(problems(base()), "");
  expect(base().scalar("s", 2), "two initializers have the name \"s\"");
  expect(base().output("y"), "two outputs have the name \"y\"");
  expect(base().output(""), "an output has no name");
  expect(base().input("x", {1, 2}), "two inputs have the name \"x\"");
  expect(base().input("", {1, 2}), "an input has no name");
  EXPECT_EQ(problems(base().output("y"), {.outputs = {"y"}}), "");
}

TEST(Inputs, DeclaredWithoutElements) {
  const auto of = [](std::vector<std::int64_t> dims) {
    builder b;
    b.input("x", dims).output("y");
    b.node("Relu", {"x"}, {"y"}, "relu");
    return b;
  };
  EXPECT_TRUE(contains(problems(of({1, 0})), "its dimension 1 is declared as 0; fix it with -i x:1xN"));
  EXPECT_TRUE(contains(problems(of({1, -3})), "its dimension 1 is declared as -3; fix it with -i x:1xN"));
  EXPECT_TRUE(contains(problems(of({1, -1})), "its dimension 1 is not known"));
  const scratch folder;
  EXPECT_TRUE(contains(run({ONNX2HPP, "--list-layers", folder.save("m.onnx", of({0, 2}))}).err,
                       "its first dimension, which the model declares as 0, is set to 1"));
}

TEST(Initializers, WithAnyNumberOfAxesAreRefused) {
  builder b;
  b.input("x", {1, 2}).output("y").weights("c", std::vector<std::int64_t>(65, 1));
  b.node("Add", {"x", "c"}, {"y"});
  EXPECT_NE(problems(b).find("cannot be read: it has 65 axes"), std::string::npos) << problems(b);
}

TEST(Initializers, DamagedOnesAreToBlameNotTheirReaders) {
  builder b;
  b.input("x", {1, 2}).output("y").floats("c", {2}, {1}).floats("d", {2}, {1, 2, 3}).floats("unused", {2}, {1});
  b.node("Add", {"x", "c"}, {"s"});
  b.node("Add", {"s", "c"}, {"t"});
  b.node("Add", {"t", "d"}, {"y"});
  EXPECT_EQ(problems(b),
            "initializer \"c\" (, opset 0): it holds 4 bytes where its shape needs 8; export the model again\n"
            "initializer \"d\" (, opset 0): it holds 12 bytes where its shape needs 8; export the model again\n");
}

TEST(Initializers, DamagedOnesAreNoOutputs) {
  builder b;
  b.input("x", {1, 2}).output("y").output("c").floats("c", {2}, {1}).node("Relu", {"x"}, {"y"});
  EXPECT_TRUE(contains(problems(b), "initializer \"c\" (, opset 0): it holds 4 bytes")) << problems(b);
}

TEST(Initializers, OfUnknownTypes) {
  builder b;
  b.input("x", {1, 2}).output("y").tensor("c", 99, {2}).set_raw_data("1234");
  b.node("Add", {"x", "c"}, {"y"});
  EXPECT_TRUE(contains(problems(b), "cannot be read: its element type UNKNOWN (99) is not supported")) << problems(b);
}

TEST(Sparse, BecomesDense) {
  builder b;
  b.input("x", {1, 4}).output("y");
  auto* s = b.graph().add_sparse_initializer();
  s->add_dims(1);
  s->add_dims(4);
  auto* v = s->mutable_values();
  v->set_name("c");
  v->set_data_type(onnx::TensorProto::FLOAT);
  v->add_dims(2);
  v->add_float_data(5);
  v->add_float_data(6);
  auto* i = s->mutable_indices();
  i->set_data_type(onnx::TensorProto::INT64);
  i->add_dims(2);
  i->add_int64_data(1);
  i->add_int64_data(3);
  b.node("Add", {"x", "c"}, {"y"});
  EXPECT_EQ(written(convert(b)), (floats{0, 5, 0, 6}));
  i->set_int64_data(1, 4);
  EXPECT_NE(problems(b).find("index out of range"), std::string::npos);
  s->set_dims(1, 1ll << 33);
  EXPECT_NE(problems(b).find("over 1 GiB"), std::string::npos);
}

/// A model whose constant lies in the file `location`.
builder external(const std::string& location, const std::string& offset = "", const std::string& length = "") {
  builder b;
  b.input("x", {1, 2}).output("y");
  auto& t = b.tensor("c", onnx::TensorProto::FLOAT, {2});
  t.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto say = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    auto* e = t.add_external_data();
    e->set_key(key);
    e->set_value(value);
  };
  say("location", location);
  say("offset", offset);
  say("length", length);
  b.node("Add", {"x", "c"}, {"y"});
  return b;
}

std::string bytes_of(const floats& f) { return {reinterpret_cast<const char*>(f.data()), f.size() * 4}; }

TEST(ExternalData, OffsetAndLength) {
  const scratch folder;
  folder.write("data.bin", bytes_of({9, 9, 1, 2}));
  const auto m = folder.save("m.onnx", external("data.bin", "8", "8"));
  const auto net = onnx2hpp::convert(onnx2hpp::load_model(m), {}, onnx2hpp::messages(onnx2hpp::verbosity::quiet));
  EXPECT_EQ(written(net), (floats{1, 2}));
  const auto depfile = folder.path / "m.d";
  ASSERT_EQ(tool({m, "-o", folder.path, "--depfile", depfile}).code, 0);
  const auto text = read_file(depfile);
  EXPECT_EQ(text.find((folder.path / "m.hpp").string() + ":"), 0u);
  EXPECT_NE(text.find((folder.path / "data.bin").string()), std::string::npos);
}

/// What the tool says about `m`: the line of its only error about a file, which must be the only problem.
std::string only_problem(const std::filesystem::path& m) {
  const auto done = tool({m, "-o", m.parent_path() / "out"});
  EXPECT_EQ(done.code, 1) << m;
  EXPECT_FALSE(std::filesystem::exists(m.parent_path() / "out"));
  const auto end = done.err.find('\n');
  EXPECT_EQ(done.err.substr(end + 1), "onnx2hpp: error: \"" + m.string() + "\" cannot be converted (1 problem)\n");
  return done.err.substr(0, end);
}

TEST(ExternalData, OutsideTheModelsFolderIsRefused) {
  const scratch outer;
  std::filesystem::create_directory(outer.path / "inner");
  outer.write("secret.bin", bytes_of({1, 2}));
  std::filesystem::create_symlink("../secret.bin", outer.path / "inner" / "link.bin");
  std::filesystem::create_symlink("..", outer.path / "inner" / "up");
  std::filesystem::create_symlink("../../blobs/1", outer.path / "inner" / "dangling.bin");
  const std::string beside = "export the model with this file in the model's folder",
                    copies = "copy the model and the file itself to one folder (cp -L copies what links stand for)";
  const struct {
    std::string location, why;
  } cases[] = {{"../secret.bin", "is outside the model's folder; " + beside},
               {"x/../../secret.bin", "is outside the model's folder; " + beside},
               {(outer.path / "secret.bin").string(), "is named by an absolute path; " + beside},
               {"link.bin", "is a link that leaves the model's folder; " + copies},
               {"up/secret.bin", "is a link that leaves the model's folder; " + copies},
               {"dangling.bin", "is a link to what is not there; put the file itself there"}};
  for (const auto& c : cases)
    EXPECT_EQ(only_problem(outer.save("inner/m.onnx", external(c.location))),
              "onnx2hpp: error: file \"" + c.location + "\": it should hold 1 of the model's tensors, but " + c.why);
}

/// A chain of five nodes that read five tensors of two numbers each from `m.onnx.data`; the last is behind an unsupported
/// node.
builder external_chain() {
  builder b;
  b.input("x", {2}).output("y");
  std::string from = "x";
  for (int i = 0; i < 5; ++i) {
    const auto name = "c" + std::to_string(i), to = "t" + std::to_string(i);
    auto* t = b.graph().add_initializer();
    t->set_name(name);
    t->add_dims(2);
    t->set_data_type(onnx::TensorProto::FLOAT);
    t->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* where = t->add_external_data();
    where->set_key("location");
    where->set_value("m.onnx.data");
    where = t->add_external_data();
    where->set_key("offset");
    where->set_value(std::to_string(8 * i));
    b.node("Add", {from, name}, {to});
    from = to;
    if (i == 3) {
      b.node("Hardmax", {from}, {"h"});
      from = "h";
    }
  }
  b.node("Relu", {from}, {"y"});
  return b;
}

/// Whatever is wrong with it: it is one problem, and neither nodes nor operators are to blame.
TEST(ExternalData, AFileThatCannotBeUsedIsOneProblem) {
  const scratch folder;
  const auto m = folder.save("m.onnx", external_chain());
  const auto data = folder.path / "m.onnx.data";
  const auto expect = [&](int tensors, const std::string& why) {
    EXPECT_EQ(only_problem(m), "onnx2hpp: error: file \"m.onnx.data\": it should hold " + std::to_string(tensors) +
                                   " of the model's tensors, but " + why);
  };
  expect(5, "is not in the model's folder; copy it there from where the model was exported");
  folder.write("m.onnx.data", std::string(20, '\0'));
  expect(3, "has only 20 bytes; copy the whole file from where the model was exported");
  folder.write("m.onnx.data", "version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 40\n");
  expect(5, "is only a pointer of git-lfs; fetch the file itself: git lfs pull in the model's folder");
  if (::geteuid() != 0) {  // root may read everything
    std::filesystem::permissions(data, std::filesystem::perms::none);
    expect(5, "cannot be read: Permission denied; give yourself the right to read it");
  }
  std::filesystem::remove(data);
  std::filesystem::create_directory(data);
  expect(5, "is not a regular file; put the file with the tensors in its place");
}

TEST(ExternalData, AConstantNodeReadsItLikeAnInitializer) {
  builder b;
  b.input("x", {1, 2}).output("y");
  auto* a = b.node("Constant", {}, {"c"}, "fixed").add_attribute();
  a->set_name("value");
  a->set_type(onnx::AttributeProto::TENSOR);
  *a->mutable_t() = external("m.bin").graph().initializer(0);
  b.node("Add", {"x", "c"}, {"y"});
  const scratch folder;
  const auto m = folder.save("m.onnx", b);
  EXPECT_NE(only_problem(m).find("file \"m.bin\": it should hold 1 of"), std::string::npos);
  a->mutable_t()->clear_external_data();
  a->mutable_t()->clear_data_location();
  a->mutable_t()->set_raw_data("1234");
  folder.save("m.onnx", b);
  EXPECT_EQ(only_problem(m),
            "onnx2hpp: error: node \"fixed\": it holds 4 bytes where its shape needs 8; export the model again");
}

TEST(ExternalData, PlacesAreChecked) {
  const scratch folder;
  folder.write("data.bin", bytes_of({1, 2}));
  for (const auto& [offset, length] : {std::pair{"4", "8"}, {"18446744073709551615", "8"}})
    EXPECT_NE(only_problem(folder.save("m.onnx", external("data.bin", offset, length))).find("but has only 8 bytes"),
              std::string::npos);
  for (const auto& [offset, length] : {std::pair{"0", "4"}, {"-4", "8"}, {"0x0", "8"}})
    EXPECT_EQ(only_problem(folder.save("m.onnx", external("data.bin", offset, length)))
                  .find("onnx2hpp: error: initializer \"c\": its external data h"),
              0u)
        << offset;
  EXPECT_NE(only_problem(folder.save("m.onnx", external(""))).find("its external data \"\" is not a file name"),
            std::string::npos);
}

TEST(Functions, AreInlined) {
  builder b;
  b.input("x", {1, 2}).output("y").floats("c", {2}, {1, 2});
  b.model.add_opset_import()->set_domain("my");
  auto* f = b.model.add_functions();
  f->set_name("Shifted");
  f->set_domain("my");
  f->add_input("a");
  f->add_input("b");
  f->add_output("out");
  f->add_attribute("slope");
  f->add_opset_import()->set_version(17);
  auto* add = f->add_node();
  add->set_op_type("Add");
  add->add_input("a");
  add->add_input("b");
  add->add_output("t");
  auto* leaky = f->add_node();
  leaky->set_op_type("LeakyRelu");
  leaky->add_input("t");
  leaky->add_output("out");
  auto* slope = leaky->add_attribute();
  slope->set_name("alpha");
  slope->set_type(onnx::AttributeProto::FLOAT);
  slope->set_ref_attr_name("slope");
  auto* g = b.model.add_functions();
  g->set_name("Twice");
  g->set_domain("my");
  g->add_input("t");
  g->add_output("u");
  g->add_output("t");
  g->add_opset_import()->set_domain("my");
  auto* call = g->add_node();
  call->set_op_type("Shifted");
  call->set_domain("my");
  call->add_input("t");
  call->add_input("t");
  call->add_output("u");
  auto& first_call = b.node("Shifted", {"x", "c"}, {"s"}, "one");
  first_call.set_domain("my");
  set(first_call, "slope", 0.25f);
  b.node("Twice", {"s"}, {"u", "same"}, "two").set_domain("my");
  b.node("Add", {"u", "same"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Add LeakyRelu Add LeakyRelu Add");
  EXPECT_EQ(first<dice::ops::leaky_relu>(net).alpha, 0.25f);
  EXPECT_EQ(net.layers[4].op.get_if<dice::ops::leaky_relu>()->alpha, 0.01f) << "no value given: the operator's own default";
  EXPECT_EQ(net.layers[5].operands, (std::vector<int>{4, 2}));
}

TEST(Functions, ThatCallThemselvesAreRefused) {
  builder b;
  b.input("x", {1}).output("y");
  auto* f = b.model.add_functions();
  f->set_name("F");
  f->set_domain("my");
  f->add_input("a");
  f->add_output("b");
  auto* n = f->add_node();
  n->set_op_type("F");
  n->set_domain("my");
  n->add_input("a");
  n->add_output("b");
  b.node("F", {"x"}, {"y"}).set_domain("my");
  EXPECT_NE(problems(b).find("calls itself"), std::string::npos);
}

TEST(Functions, ThatCallEachOtherWithoutEndAreRefused) {
  // Thirty levels of functions with ten calls each, and an empty function at the bottom; other mistakes are reported as
  // well.
  builder b(6);
  b.input("x", {1}).output("y");
  for (int level = 0; level < 30; ++level) {
    auto* f = b.model.add_functions();
    f->set_name("F" + std::to_string(level));
    f->set_domain("my");
    for (int k = 0; level > 0 && k < 10; ++k) {
      auto* n = f->add_node();
      n->set_op_type("F" + std::to_string(level - 1));
      n->set_domain("my");
    }
  }
  b.node("F29", {"x"}, {"y"}).set_domain("my");
  const auto text = problems(b);
  EXPECT_NE(text.find("over a million nodes"), std::string::npos) << text;
  EXPECT_NE(text.find("opset 6"), std::string::npos) << text;
}

TEST(Damage, EndsInAMessageNeverInACrash) {
  builder b;
  b.input("x", {1, 1, 6, 6}).output("y").weights("w", {2, 1, 3, 3}).ints("to", {1, -1}).weights("v", {32, 4});
  set(b.node("Conv", {"x", "w"}, {"c"}, "conv"), "pads", {0, 0, 0, 0});
  b.node("Reshape", {"c", "to"}, {"r"});
  b.node("Gemm", {"r", "v"}, {"y"});
  const std::string good = b.model.SerializeAsString();
  const scratch folder;
  std::mt19937 random(7);
  for (std::size_t k = 0; k < 400; ++k) {
    std::string bad = good;
    if (k < 100) bad.resize(good.size() * k / 100);
    else
      for (int i = 0; i < 3; ++i) bad[random() % bad.size()] = static_cast<char>(random());
    const auto m = folder.write("m.onnx", bad);
    // Runs in this process, so that a crash ends the test.
    try {
      const auto net = onnx2hpp::convert(onnx2hpp::load_model(m), {}, onnx2hpp::messages(onnx2hpp::verbosity::quiet));
    } catch (const onnx2hpp::conversion_error& e) {
      EXPECT_FALSE(e.problems.empty());
    } catch (const onnx2hpp::file_error&) {
    }
  }
  const auto done = tool({folder.write("m.onnx", good.substr(0, good.size() / 2)), "-o", folder.path});
  EXPECT_EQ(done.code, 1);
  EXPECT_NE(done.err.find("\": it is not an ONNX model, or it is damaged"), std::string::npos) << done.err;
}

}  // namespace
}  // namespace onnx2hpp_test
