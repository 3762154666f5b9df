// expect: dice::error::gpu_number_negative<-1, dice::remedy::write_cpu_or_cores_or_threads_or_gpu>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, gpu_at<-1>>, layers<all>>;
#else
using plan = mapping<dev<0, threads<1>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
