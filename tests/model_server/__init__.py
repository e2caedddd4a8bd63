"""A model that follows a script, behind the APIs that agent CLIs speak: Anthropic's Messages, OpenAI's Responses and
Chat Completions, and Gemini's generateContent, streamed or whole.

Only Python's standard library, so that the folder alone runs in a bare container: `python3 -m model_server`.
"""
