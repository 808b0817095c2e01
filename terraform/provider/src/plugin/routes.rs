//! Which call is what: the paths of gRPC, and what answers each.

use super::grpc::{self, ResponseBody, Status};
use super::messages::{Health, Nothing, Stopped};
use super::serve::{Provider, Shared};
use http::{Request, Response};
use hyper::body::Incoming;
use prost::Message;
use std::sync::Arc;

/// Answers one call.
pub async fn answer<P: Provider>(
    shared: Arc<Shared<P>>,
    request: Request<Incoming>,
) -> Response<ResponseBody> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    if let Some(method) = path.strip_prefix("/tfplugin6.Provider/") {
        return of_provider(&shared, method, body).await;
    }
    match path {
        "/grpc.health.v1.Health/Check" => grpc::respond(Ok(Health { status: 1 })),
        // Output of the plugin and further connections: there are none.
        "/plugin.GRPCStdio/StreamStdio" | "/plugin.GRPCBroker/StartStream" => grpc::silence(body),
        "/plugin.GRPCController/Shutdown" => {
            shared.stop.notify_one();
            grpc::respond(Ok(Nothing {}))
        }
        _ => grpc::respond(Err::<Nothing, _>(Status::UNIMPLEMENTED)),
    }
}

async fn of_provider<P: Provider>(
    shared: &Shared<P>,
    method: &str,
    body: Incoming,
) -> Response<ResponseBody> {
    let provider = &shared.provider;
    match method {
        "GetMetadata" => grpc::respond(Ok(provider.metadata())),
        "GetProviderSchema" => grpc::respond(Ok(provider.schema())),
        "ValidateProviderConfig" => call(body, |sent| provider.validate_provider(sent)).await,
        "ConfigureProvider" => call(body, |sent| provider.configure(sent)).await,
        "ValidateResourceConfig" => call(body, |sent| provider.validate_resource(sent)).await,
        "ValidateDataResourceConfig" => call(body, |sent| provider.validate_data(sent)).await,
        "ValidateEphemeralResourceConfig" => {
            call(body, |sent| provider.validate_ephemeral(sent)).await
        }
        "UpgradeResourceState" => call(body, |sent| provider.upgrade(sent)).await,
        "ReadResource" => call(body, |sent| provider.read(sent)).await,
        "PlanResourceChange" => call(body, |sent| provider.plan(sent)).await,
        "ApplyResourceChange" => call(body, |sent| provider.apply(sent)).await,
        "ImportResourceState" => call(body, |sent| provider.import(sent)).await,
        "MoveResourceState" => call(body, |sent| provider.moved(sent)).await,
        "ReadDataSource" => call(body, |sent| provider.read_data(sent)).await,
        "OpenEphemeralResource" => call(body, |sent| provider.open(sent)).await,
        "RenewEphemeralResource" => call(body, |sent| provider.renew(sent)).await,
        "CloseEphemeralResource" => call(body, |sent| provider.close(sent)).await,
        // Calls that run are ended by their own limits; what they did is kept.
        "StopProvider" => grpc::respond(Ok(Stopped::default())),
        _ => grpc::respond(Err::<Nothing, _>(Status::UNIMPLEMENTED)),
    }
}

async fn call<M, A, F>(body: Incoming, answer: impl FnOnce(M) -> F) -> Response<ResponseBody>
where
    M: Message + Default,
    A: Message,
    F: Future<Output = A>,
{
    match grpc::receive(body).await {
        Ok(message) => grpc::respond(Ok(answer(message).await)),
        Err(status) => grpc::respond(Err::<Nothing, _>(status)),
    }
}
