/*
 * demo_files.h - the files of examples/demo/, carried in the program.
 */
#ifndef HOB_SRC_CLI_DEMO_FILES_H
#define HOB_SRC_CLI_DEMO_FILES_H

typedef struct hob_demo_file {
    const char *name;
    const char *text; /* NUL-terminated */
} hob_demo_file;

extern const hob_demo_file hob_demo_files[]; /* ends with a NULL name: what the agent works on */
extern const char hob_demo_script[]; /* for the scripted model; belongs outside that folder */
extern const char hob_demo_prompt[];

#endif
