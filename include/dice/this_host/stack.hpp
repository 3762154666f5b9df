// The calling thread's stack.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace dice::this_host {

/// How many bytes of its stack the calling thread has not used; SIZE_MAX if the system does not say.
inline std::size_t stack_left() {
  pthread_attr_t about;
  if (::pthread_getattr_np(::pthread_self(), &about) != 0) return SIZE_MAX;
  void* low = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&about, &low, &size);
  ::pthread_attr_destroy(&about);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)),
             end = reinterpret_cast<std::uintptr_t>(low);
  return here > end ? here - end : 0;
}

}  // namespace dice::this_host
