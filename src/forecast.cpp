// Predictions, searches and advice.
#include "dice/app/forecast.ipp"
