"use strict";
const token = document.getElementById("token");
const answer = document.getElementById("answer");

/* The address that the server printed carries the token after the #, which no browser sends anywhere. */
const fragment = new URLSearchParams(location.hash.slice(1));
if (fragment.has("token")) {
  token.value = fragment.get("token");
  history.replaceState(null, "", location.pathname);
}

document.getElementById("door").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const response = await fetch("/healthz", { headers: { Authorization: "Bearer " + token.value } });
    const body = await response.json();
    answer.textContent = response.ok
      ? "hob " + body.version + ", up for " + body.uptime_s + " s"
      : body.error.message;
  } catch (error) {
    answer.textContent = "The server cannot be reached: " + error.message;
  }
});
