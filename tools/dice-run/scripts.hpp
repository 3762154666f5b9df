// The scripts that run on hosts, scripts/NAME.sh; those that concern a deployment with prelude.sh before them. Each says
// what its arguments are and what it prints.
#pragma once

namespace dice_run::scripts {

extern const char *const prelude, *const survey;  // of all commands
extern const char* const lock;                    // of all that change something
extern const char *const prepare, *const complete, *const remember, *const discard, *const switch_to,
                                                                                        *const clean;  // deploy
extern const char *const announce, *const start, *const supervise, *const stop, *const output;         // the job
extern const char *const heart, *const feed;                                                           // its input
extern const char *const install_service, *const uninstall_service, *const boot;                       // the service
extern const char *const bench, *const logs;  // bench, measure; logs
extern const char *const check, *const link;  // check, which facts follows; link is in Perl
extern const char* const facts;               // check, deploy, start, bench, measure

}  // namespace dice_run::scripts
