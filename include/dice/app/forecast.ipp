#pragma once

#include "dice/app/forecast.hpp"
#include "dice/app/output/advice.ipp"
#include "dice/app/output/prediction.ipp"
