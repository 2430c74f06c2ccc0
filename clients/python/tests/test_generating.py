import unittest
from concurrent.futures import ThreadPoolExecutor

from cbactor import BadRequest, ConnectionFailed, NotFound
from tests.rig import Served

STORY = "Once upon a time"


class GeneratingTest(Served):
    def test_a_text_and_its_ids_are_continued_alike(self) -> None:
        client = self.client()
        one = client.generate(STORY, max_tokens=20, temperature=0)
        self.assertTrue(one.text.startswith(","), one.text)
        self.assertEqual("length", one.finish_reason)
        self.assertEqual(20, len(one.token_ids))
        assert one.usage is not None
        self.assertEqual((len(one.prompt_token_ids), 20), (one.usage.prompt_tokens, one.usage.completion_tokens))
        again = client.generate(one.prompt_token_ids, max_tokens=20, temperature=0)
        self.assertEqual((one.text, one.token_ids, one.logprobs), (again.text, again.token_ids, again.logprobs))

    def test_a_stream_is_the_whole_in_pieces(self) -> None:
        client = self.client()
        whole = client.generate(STORY, max_tokens=200, seed=3, ignore_eos=True)
        with client.stream(STORY, max_tokens=200, seed=3, ignore_eos=True) as stream:
            pieces = list(stream)
        self.assertGreater(len(pieces), 1)
        self.assertEqual(whole.text, "".join(piece.text for piece in pieces))
        self.assertEqual(whole.token_ids, [i for piece in pieces for i in piece.token_ids])
        self.assertEqual(whole, stream.result())
        self.assertEqual([None] * (len(pieces) - 1) + ["length"], [piece.finish_reason for piece in pieces])

    def test_what_is_left_early_is_ended(self) -> None:
        client = self.client()
        with client.stream(STORY, max_tokens=900, ignore_eos=True) as stream:
            next(iter(stream))
        with self.assertRaises(ConnectionFailed):
            stream.result()
        self.assertEqual([], list(stream))

    def test_log_probabilities_are_by_the_model_and_by_what_was_drawn_from(self) -> None:
        client = self.client()
        cold = client.generate(STORY, max_tokens=10, temperature=0)
        self.assertEqual([10, 10], [len(cold.logprobs), len(cold.processed_logprobs)])
        self.assertTrue(all(p <= 0 for p in cold.logprobs))
        self.assertEqual([0.0] * 10, cold.processed_logprobs)  # nothing else could be drawn
        plain = client.generate(STORY, max_tokens=10, temperature=1, top_k=-1, top_p=1, seed=5)
        for raw, processed in zip(plain.logprobs, plain.processed_logprobs, strict=True):
            self.assertAlmostEqual(raw, processed, places=4)
        none = client.generate(STORY, max_tokens=10, temperature=0, logprobs=False)
        self.assertEqual(([], [], cold.text), (none.logprobs, none.processed_logprobs, none.text))

    def test_tokens_tell_which_weights_made_them(self) -> None:
        one = self.client().generate(STORY, max_tokens=10)
        self.assertEqual([("default", 0, len(one.token_ids))], [(s.version, s.start, s.end) for s in one.spans])
        self.assertEqual(["default"], one.versions)
        self.assertEqual(0, one.kv_spans[0].start)

    def test_many_prompts_are_continued_several_times_each(self) -> None:
        client = self.client()
        groups = client.generate_many([STORY, "One day, a dog"], 3, max_tokens=8, temperature=1)
        self.assertEqual([3, 3], [len(group) for group in groups])
        self.assertGreater(len({one.text for group in groups for one in group}), 3)
        for group in groups:
            self.assertEqual(1, len({tuple(one.prompt_token_ids) for one in group}))

    def test_a_chat_is_answered_whole_and_in_pieces(self) -> None:
        client = self.client()
        messages = [{"role": "user", "content": "Write a story."}]
        one = client.chat(messages, max_tokens=15, temperature=0)
        self.assertEqual(15, len(one.logprobs))
        self.assertTrue(one.text and one.prompt_token_ids)
        with client.stream_chat(messages, max_tokens=15, temperature=0) as stream:
            self.assertEqual(one, stream.result())

    def test_a_chat_goes_on_with_its_last_message(self) -> None:
        client = self.client()
        messages = [{"role": "user", "content": "Write a story."}, {"role": "assistant", "content": STORY}]
        thinks = {"enable_thinking": False}
        one = client.chat(
            messages, max_tokens=4, temperature=0, continue_final_message=True, chat_template_kwargs=thinks
        )
        again = [*messages[:-1], {"role": "assistant", "content": STORY + one.text}]
        other = client.chat(again, max_tokens=1, continue_final_message=True, add_generation_prompt=False)
        self.assertEqual(one.prompt_token_ids, other.prompt_token_ids[: len(one.prompt_token_ids)])
        with self.assertRaises(BadRequest) as bad:
            client.chat(messages, continue_final_message=True, add_generation_prompt=True)
        self.assertEqual("continue_final_message", bad.exception.param)

    def test_stops_and_seeds(self) -> None:
        client = self.client()
        one = client.generate(STORY, max_tokens=200, temperature=0, stop=["girl"])
        self.assertEqual(("stop", "girl"), (one.finish_reason, one.stop_reason))
        self.assertNotIn("girl", one.text)
        texts = [client.generate(STORY, max_tokens=10, seed=seed, temperature=1).text for seed in (1, 1, 2)]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_errors_say_what_they_are_about(self) -> None:
        client = self.client()
        with self.assertRaises(BadRequest) as bad:
            client.generate(STORY, temperature=9)
        self.assertEqual(
            (400, "invalid_value", "temperature"), (bad.exception.status, bad.exception.code, bad.exception.param)
        )
        with self.assertRaises(BadRequest) as bad, client.stream([1] * 5000) as stream:
            stream.result()
        self.assertEqual("context_length_exceeded", bad.exception.code)
        with self.assertRaises(NotFound):
            client.generate(STORY, model="nobody")
        with self.assertRaisesRegex(TypeError, "max_token'"):
            client.generate(STORY, max_token=3)  # type: ignore[call-arg]

    def test_who_asks_for_several_texts_of_one_is_told_how(self) -> None:
        client, told = self.client(), "generate_many"
        with self.assertRaisesRegex(TypeError, told):
            client.generate(STORY, n=3)  # type: ignore[call-arg]
        with self.assertRaisesRegex(TypeError, told):
            client.chat([{"role": "user", "content": STORY}], n=3)  # type: ignore[call-arg]
        with self.assertRaisesRegex(TypeError, told):
            client.stream(STORY, n=3)  # type: ignore[call-arg]

    def test_threads_share_a_client(self) -> None:
        client = self.client()
        with ThreadPoolExecutor(8) as pool:
            texts = list(pool.map(lambda _: client.generate(STORY, max_tokens=20, temperature=0).text, range(24)))
        self.assertEqual(1, len(set(texts)))

    def test_the_server_says_how_it_is(self) -> None:
        client = self.client()
        client.wait_until_ready()
        self.assertEqual(("ok", {"tiny": "running"}), (client.status().status, client.status().models))


if __name__ == "__main__":
    unittest.main()
