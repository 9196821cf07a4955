/*
 * hob/hob.h - everything an embedding program needs, in one include.
 *
 *     hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
 *     hob_session_opts so = HOB_SESSION_OPTS_INIT;
 *     so.model = "scripted:hello.json";
 *     if (hob_runtime_create(&ro, &rt, &err) < 0 || hob_session_create(rt, &so, &s, &err) < 0) …
 *     hob_session_prompt_and_wait(s, hob_str_z("hello"), -1, &result, &err);
 *
 * Start with hob/session.h; docs/embedding.md is the guided tour.
 */
#ifndef HOB_HOB_H
#define HOB_HOB_H

#include <hob/acp.h>
#include <hob/agent.h>
#include <hob/agui.h>
#include <hob/agui_project.h>
#include <hob/approval.h>
#include <hob/artifact.h>
#include <hob/base.h>
#include <hob/config.h>
#include <hob/definitions.h>
#include <hob/event.h>
#include <hob/memory.h>
#include <hob/runtime.h>
#include <hob/server.h>
#include <hob/session.h>
#include <hob/shared.h>
#include <hob/state.h>
#include <hob/stored.h>
#include <hob/subagent.h>
#include <hob/tool.h>

#endif
