// The scripts that run on hosts, scripts/NAME.sh; those that concern a deployment with prelude.sh before them. Each says
// what its arguments are and what it prints.
#pragma once

namespace dice_run::scripts {

extern const char *const prelude, *const survey;                                             // of all commands
extern const char *const lock, *const prepare, *const complete, *const point, *const clean;  // deploy
extern const char *const start, *const supervise, *const stop;                               // the job
extern const char *const check, *const link;                                                 // check; link is in Perl

}  // namespace dice_run::scripts
