/*
 * main.c - finds the command. One command, one file, one row here.
 *
 * The first argument is a command if it is exactly the name of one; everything else is a prompt
 * with its options (run.c). --version is answered before anything else is touched.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const hob_command *const commands[] = {
    &hob_command_sessions, &hob_command_runs,   &hob_command_config, &hob_command_models,
    &hob_command_agents,   &hob_command_skills, &hob_command_memory, &hob_command_artifacts,
    &hob_command_trust,    &hob_command_demo,   &hob_command_acp,    &hob_command_serve,
};

size_t hob_command_count(void) {
    return HOB_ARRAY_LEN(commands);
}

const hob_command *hob_command_at(size_t i) {
    return commands[i];
}

const hob_command *hob_command_find(hob_str name) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(commands); i++)
        if (hob_str_eqz(name, commands[i]->name)) return commands[i];
    return NULL;
}

/* A closed standard stream must not become the number of the next file that is opened. */
static int open_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd) return -1;
    }
    return 0;
}

/* What was printed but could not be delivered is a failure, except that a reader who had enough is
 * told apart: 141 is what the shell says of a program that SIGPIPE ended. */
static int after_output(hob_cli *cli, int code) {
    if (!cli->out.err) return code;
    if (cli->out.err == EPIPE) return code == HOB_EXIT_OK ? HOB_EXIT_SIGNAL + 13 : code;
    hob_tell_errorf(cli, "writing to standard output failed: %s", strerror(cli->out.err));
    return code == HOB_EXIT_OK ? HOB_EXIT_FAILED : code;
}

int main(int argc, char **argv) {
    static const char version[] = "hob " HOB_VERSION "\n";
    if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
        return write(STDOUT_FILENO, version, sizeof version - 1) < 0;
    if (open_standard_streams() < 0) return HOB_EXIT_FAILED;
    hob_cli cli = {.envp = (const char *const *)environ};
    hob_out_init(&cli.out, STDOUT_FILENO);
    hob_signals_watch();
    const hob_command *c = argc > 1 ? hob_command_find(hob_str_z(argv[1])) : NULL;
    int code = c ? c->run(&cli, argv + 2) : hob_command_run.run(&cli, argv + (argc > 0));
    hob_cli_stop(&cli);
    code = after_output(&cli, code);
    hob_out_finish(&cli.out);
    return code;
}
