"""Records of two prompts with their texts, as harnesses, servers and chat programs write them."""

from .records import PROMPTS, TEXTS


def lm_eval_row(number, filter_name):
    request = {"arg_0": PROMPTS[number], "arg_1": {"until": ["\n\n"], "max_gen_toks": 64}}
    return {
        "doc_id": number,
        "doc": {"topic": "x"},
        "target": "",
        "arguments": {"gen_args_0": request},
        "resps": [[TEXTS[number]]],
        "filtered_resps": [TEXTS[number].upper()],
        "filter": filter_name,
        "doc_hash": "0",
    }


def inspect_sample(number, epoch=1):
    message = {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": TEXTS[number]}],
    }
    return {
        "id": number,
        "epoch": epoch,
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": PROMPTS[number]}],
        "target": "",
        "messages": [{"role": "user", "content": PROMPTS[number]}, message],
        "output": {"model": "a/model", "choices": [{"message": message, "stop_reason": "stop"}]},
        "scores": {},
    }


def helm_state(number):
    return {
        "instance": {"input": {"text": "?"}, "references": [], "split": "test", "id": f"id{number}"},
        "request_mode": None,
        "train_trial_index": 0,
        "request": {"model": "openai/gpt2", "prompt": PROMPTS[number], "temperature": 1.0},
        "result": {"success": True, "completions": [{"text": TEXTS[number], "logprob": -1.0, "tokens": []}]},
    }


def eee_line(number):
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "e/1",
        "model_id": "org/model",
        "evaluation_name": "essays",
        "sample_id": f"s{number}",
        "interaction_type": "single_turn",
        "input": {"raw": PROMPTS[number], "reference": []},
        "output": {"raw": [TEXTS[number]]},
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
    }


def chat(number, roles=("user", "assistant"), keys=("role", "content")):
    return [dict(zip(keys, pair, strict=True)) for pair in zip(roles, (PROMPTS[number], TEXTS[number]), strict=True)]


def batch_line(number):
    body = {"model": "gpt-4o", "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXTS[number]}}]}
    return {"id": "b", "custom_id": f"s{number}", "response": {"status_code": 200, "body": body}, "error": None}


def message_batch_line(number):
    message = {"model": "m", "content": [{"type": "text", "text": TEXTS[number]}]}
    return {"custom_id": f"s{number}", "result": {"type": "succeeded", "message": message}}


def raw_response(number):
    return {"id": "cmpl-1", "object": "text_completion", "model": "m", "choices": [{"index": 0, "text": TEXTS[number]}]}


def gemini_line(number):
    parts = [{"text": TEXTS[number]}]
    return {
        "key": f"s{number}",
        "request": {"contents": [{"parts": [{"text": PROMPTS[number]}], "role": "user"}]},
        "response": {"candidates": [{"content": {"parts": parts, "role": "model"}}], "modelVersion": "m"},
    }


def chatgpt_conversation(number):
    """A conversation whose first answer was replaced: both are in the tree."""

    def node(role, text, parent, children=()):
        message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
        return {"message": message, "parent": parent, "children": list(children)}

    return {
        "title": "A chat",
        "conversation_id": f"s{number}",
        "mapping": {
            "root": {"message": None, "parent": None, "children": ["q"]},
            "q": node("user", PROMPTS[number], "root", ["old", "new"]),
            "old": node("assistant", "No.", "q"),
            "new": node("assistant", TEXTS[number], "q"),
        },
        "current_node": "new",
    }


def chatgpt_conversation_without_its_end(number):
    """As tools leave it that select from an export: the newest answer is the last one, wherever it stands."""
    conversation = chatgpt_conversation(number)
    del conversation["current_node"]
    for time, node in enumerate(("q", "old", "new")):
        conversation["mapping"][node]["message"]["create_time"] = float(time)
    conversation["mapping"] = dict(reversed(conversation["mapping"].items()))
    return conversation


def claude_conversation_of_parts(number):
    conversation = claude_conversation(number)
    for message in conversation["chat_messages"]:
        message["content"] = [{"type": "text", "text": message.pop("text")}]
    return conversation


def claude_conversation(number):
    messages = [{"sender": "human", "text": PROMPTS[number]}, {"sender": "assistant", "text": TEXTS[number]}]
    return {"uuid": f"s{number}", "name": "A chat", "chat_messages": messages}


def openassistant_tree(number):
    reply = {"text": TEXTS[number], "role": "assistant", "replies": []}
    prompt = {"text": PROMPTS[number], "role": "prompter", "replies": [reply]}
    return {"message_tree_id": f"s{number}", "tree_state": "ready_for_export", "prompt": prompt}
