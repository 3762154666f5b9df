// Predictions, searches and advice.
#include "dice/advice/cluster_model.ipp"
