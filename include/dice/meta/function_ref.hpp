#pragma once

namespace dice::meta {

/// A function that is passed on by reference, so that what calls it is compiled once, and not for each function. It must not
/// outlive the function.
template <class... Arguments> class function_ref {
 public:
  template <class F>
  function_ref(const F& f)
      : f_(&f), call_([](const void* of, Arguments... arguments) { (*static_cast<const F*>(of))(arguments...); }) {}
  void operator()(Arguments... arguments) const { call_(f_, arguments...); }

 private:
  const void* f_;
  void (*call_)(const void*, Arguments...);
};

}  // namespace dice::meta
