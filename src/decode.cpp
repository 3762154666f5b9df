// What networks' results mean.
#include "dice/decode/box.ipp"
#include "dice/decode/boxes.ipp"
#include "dice/decode/classes.ipp"
#include "dice/decode/head.ipp"
#include "dice/decode/mask.ipp"
