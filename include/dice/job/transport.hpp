#pragma once

#include "dice/channels/transport.hpp"

// The names that programs use.
namespace dice::job {
using channels::transport;
}
namespace dice::app {
using channels::transport;
}
