/*
 * skills.c - `hob skills`: skills and prompt templates.
 */
#include <hob/definitions.h>

#include "cli/cli.h"

#define AT(member) offsetof(hob_listing_opts, member)
static const hob_opt table[] = {
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON object a line"},
    {0, "trust", HOB_OPT_FLAG, AT(trust), NULL, "as if this folder were trusted"},
    HOB_COMMON_OPTS(hob_listing_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

static int run(hob_cli *cli, char *const *argv) {
    unsigned wanted = 1u << HOB_DEFINITION_SKILL | 1u << HOB_DEFINITION_COMMAND;
    return hob_cli_definitions(cli, &hob_command_skills, wanted, argv);
}

const hob_command hob_command_skills = {
    .name = "skills",
    .usage = "skills",
    .summary = "skills and prompt templates, and why one does not count",
    .opts = &opts,
    .run = run,
};
