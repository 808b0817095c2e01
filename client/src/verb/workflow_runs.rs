//! `/v1/workflow-runs`.

use crate::send::{Call, to_json};
use crate::{
    ApiResponse, CancelledWorkflowRun, Client, ClientError, IdempotencyKey, Page, PageRequest,
    RawJson, RunFilter, WorkflowGraph, WorkflowRun,
};
use api_types::request::{NewWorkflowRun, WorkflowRerun};
use domain::id::WorkflowRunId;

impl Client {
    /// Starts a run: of a stored workflow, or of the definition that comes with it. The same key and run again give the same answer.
    ///
    /// # Errors
    /// An invalid definition or input; 404 for an unknown workflow; no response.
    pub async fn start_workflow_run(
        &self,
        run: &NewWorkflowRun<RawJson>,
        key: IdempotencyKey,
    ) -> Result<ApiResponse<WorkflowRun>, ClientError> {
        self.send(Call::post("v1/workflow-runs", key).json(to_json(run)?)).await
    }

    /// Shows a run.
    ///
    /// # Errors
    /// 404 for an unknown run; no response.
    pub async fn workflow_run(
        &self,
        id: WorkflowRunId,
    ) -> Result<ApiResponse<WorkflowRun>, ClientError> {
        self.send(Call::get(path(id))).await
    }

    /// Shows a run with what it has used.
    ///
    /// # Errors
    /// 404 for an unknown run; no response.
    pub async fn workflow_run_with_usage(
        &self,
        id: WorkflowRunId,
    ) -> Result<ApiResponse<WorkflowRun>, ClientError> {
        self.send(Call::get(path(id)).query([("include", Some("usage".to_owned()))])).await
    }

    /// One page of your runs, latest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no response.
    pub async fn workflow_runs(
        &self,
        filter: &RunFilter,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<WorkflowRun>>, ClientError> {
        let call = Call::get("v1/workflow-runs").query(filter.parameters());
        self.send(call.query(page.parameters())).await
    }

    /// Shows a run with its nodes.
    ///
    /// # Errors
    /// 404 for an unknown run; no response.
    pub async fn workflow_graph(
        &self,
        id: WorkflowRunId,
    ) -> Result<ApiResponse<WorkflowGraph>, ClientError> {
        self.send(Call::get(format!("{}/graph", path(id)))).await
    }

    /// Asks that a run stops. Repeating it is safe.
    ///
    /// # Errors
    /// 404 for an unknown run; no response.
    pub async fn cancel_workflow_run(
        &self,
        id: WorkflowRunId,
    ) -> Result<ApiResponse<CancelledWorkflowRun>, ClientError> {
        self.send(Call::post(format!("{}/cancel", path(id)), IdempotencyKey::fresh())).await
    }

    /// Runs nodes of a run again, as a new run that names it as [`WorkflowRun::rerun_of`]. The same key and nodes again give the same
    /// answer.
    ///
    /// # Errors
    /// 404 for an unknown run; 409 for one that has not ended, or where nothing is to be run again; no response.
    pub async fn rerun_workflow_run(
        &self,
        id: WorkflowRunId,
        rerun: &WorkflowRerun,
        key: IdempotencyKey,
    ) -> Result<ApiResponse<WorkflowRun>, ClientError> {
        self.send(Call::post(format!("{}/rerun", path(id)), key).json(to_json(rerun)?)).await
    }
}

fn path(id: WorkflowRunId) -> String {
    format!("v1/workflow-runs/{id}")
}
